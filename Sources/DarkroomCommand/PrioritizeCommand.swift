import ArgumentParsing
import Darkroom

/// `darkroom prioritize`: how urgent a batch is from now on.
struct PrioritizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "prioritize", abstract: "Make a batch more or less urgent.",
        discussion: """
            Priorities are veryLow, low, normal, high and veryHigh. Work of a higher priority is handed out first; within one \
            priority batches take turns. It holds for what is handed out from now on, what runs goes on.
            """,
        group: "Coordinator", synonyms: ["priority", "nice"], examples: ["darkroom prioritize holidays veryHigh"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Argument(help: "The priority.") var priority: BatchPriority
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect()
        let found = try client.store.batch(named: batch)
        let isNew = try client.control.prioritize(found.id, priority)
        let sentence =
            "batch \(found.label) " + (isNew ? "has priority \(priority) now" : "had priority \(priority) already")
        try SteeringAnswer(client, redis, json: json).give(sentence, try found.refreshed(client))
    }
}
