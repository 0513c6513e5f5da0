import ArgumentParsing
import Darkroom

/// `darkroom prioritize`: changes the priority of a batch.
struct PrioritizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "prioritize", abstract: "Change the priority of a batch.",
        discussion: """
            Priorities are veryLow, low, normal, high and veryHigh. Workers claim operations of a higher priority \
            first; batches of the same priority take turns. Running operations continue.
            """,
        group: "Coordinator", synonyms: ["priority", "nice"], examples: ["darkroom prioritize holidays veryHigh"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Argument(help: "The priority.") var priority: BatchPriority
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (redis, client, found) = try redis.connect(to: batch)
        let isNew = try client.control.prioritize(found.id, priority)
        let sentence =
            "batch \(found.label) " + (isNew ? "has priority \(priority) now" : "had priority \(priority) already")
        let output = ControlOutput(client: client, redis: redis, isJSON: json)
        try output.write(sentence, try found.refreshed(client))
    }
}
