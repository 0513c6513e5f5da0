import ArgumentParsing
import Darkroom

/// The arguments of `suspend` and `resume`: a batch or the cluster, and which parts of it.
struct SuspensionArguments: ParsableArguments {
    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Flag(help: "The whole cluster: all batches on all workers.") var all: Bool
    @Flag(help: "Only the downloads.") var downloads: Bool
    @Flag(help: "Only the filtrations.") var filtrations: Bool
    @Flag(help: "Print the facts of the batch, or of the cluster, as JSON.") var json: Bool

    func validate() throws {
        guard (batch == nil) == all else { throw ValidationError("name a batch, or the whole cluster with --all") }
    }

    /// The parts that the flags select; without flags, everything.
    var parts: [QueuePart] {
        let parts: [QueuePart] = (downloads ? [.downloads] : []) + (filtrations ? [.filtrations] : [])
        return parts.isEmpty ? [.everything] : parts
    }

    /// The subject of the result sentence: `batch holidays`, `downloads of the cluster`.
    func subject(_ label: String?) -> String {
        let whole = label.map { "batch \($0)" } ?? "the cluster"
        return parts == [.everything] ? whole : parts.map(\.rawValue).joined(separator: " and ") + " of \(whole)"
    }

    /// The singular `one` for a whole batch or cluster, otherwise the plural `many`.
    func verb(_ one: String, _ many: String) -> String { parts == [.everything] ? one : many }
}

/// `darkroom suspend`: starts no more downloads and filtrations of a batch or of the cluster.
struct SuspendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "suspend", abstract: "Suspend a batch or the cluster: no download or filtration starts.",
        discussion: """
            Downloads and filtrations that are running are completed. Batches can still be submitted and fed. The \
            suspension lasts until "darkroom resume", even if workers or Redis restart. Suspending again is not an \
            error.
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
        let output = ControlOutput(client, redis, json: what.json)
        guard let batch else { return try output.write(sentence) }
        try output.write(sentence, try batch.refreshed(client))
    }
}
