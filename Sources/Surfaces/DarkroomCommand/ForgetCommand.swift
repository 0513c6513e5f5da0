import ArgumentParsing
import Darkroom

/// `darkroom forget`: removes a batch from Redis; its files stay.
struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "forget", abstract: "Remove a finished batch from Redis; the written photos stay.",
        group: "Coordinator", synonyms: ["rm", "remove", "delete"], examples: ["darkroom forget holidays"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Flag(help: "Remove the batch even if it has not finished; workers release its operations.") var force: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let client = try redis.connect()
        let found = try client.store.batch(named: batch)
        guard try client.control.forget(found.id, unfinished: force) != nil else { return }
        throw CommandError(
            "batch \(found.label) has not finished: \(found.unfinishedText); wait for it "
                + "(darkroom wait \(found.id)), or remove it anyway with --force")
    }
}
