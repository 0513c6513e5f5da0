import ArgumentParsing
import Darkroom

/// What is suspended or resumed: of a batch or of the cluster, all or a part.
struct SuspensionArguments: ParsableArguments {
    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Flag(help: "The whole cluster: every batch and every worker.") var all: Bool
    @Flag(help: "Only its downloads.") var downloads: Bool
    @Flag(help: "Only its filtrations.") var filtrations: Bool
    @Flag(help: "Print the facts of the batch, or of the cluster, as JSON.") var json: Bool

    func validate() throws {
        guard (batch == nil) == all else { throw ValidationError("name a batch, or the whole cluster with --all") }
    }

    /// The parts that are meant.
    var parts: [QueuePart] {
        let parts: [QueuePart] = (downloads ? [.downloads] : []) + (filtrations ? [.filtrations] : [])
        return parts.isEmpty ? [.everything] : parts
    }

    /// The parts in words, of what `of` says: `batch holidays`, `downloads of the cluster`.
    func subject(_ label: String?) -> String {
        let whole = label.map { "batch \($0)" } ?? "the cluster"
        return parts == [.everything] ? whole : parts.map(\.rawValue).joined(separator: " and ") + " of \(whole)"
    }

    /// `is` or `are`, `was` or `were`.
    func verb(_ one: String, _ many: String) -> String { parts == [.everything] ? one : many }
}

/// `darkroom suspend`: nothing of a batch, or of anything, begins any more.
struct SuspendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "suspend", abstract: "Suspend a batch, or the cluster: no download and no filtration begins any more.",
        discussion: """
            What runs goes on to its end; nothing is lost. "darkroom resume" lets it go on. Batches are submitted and fed \
            meanwhile. It holds over restarts of workers and of Redis. Suspending again is no error.
            """,
        group: "Coordinator", synonyms: ["pause", "hold", "stop"],
        examples: ["darkroom suspend holidays", "darkroom suspend --all", "darkroom suspend --all --downloads"])

    @OptionGroup var what: SuspensionArguments
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (redis, name) = try self.redis.resolving(what.batch)
        let client = try redis.connect()
        let batch = try name.map { try client.store.batch(named: $0) }
        var isNew = false
        for part in what.parts where try client.control.suspend(batch?.id, part) { isNew = true }
        let subject = what.subject(batch?.label)
        let sentence =
            isNew
            ? "\(subject) \(what.verb("is", "are")) suspended"
            : "\(subject) \(what.verb("was", "were")) suspended already"
        let answer = SteeringAnswer(client, redis, json: what.json)
        guard let batch else { return try answer.give(sentence) }
        try answer.give(sentence, try batch.refreshed(client))
    }
}
