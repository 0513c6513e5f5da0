import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// The arguments of `suspend` and `resume`: a batch or the cluster, and the parts to suspend or resume.
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

    /// Suspends or resumes the parts, and prints a sentence about the result; with `--json`, also prints the facts.
    /// - Parameters:
    ///   - warns: Whether the problems of the batch are also printed.
    ///   - change: Suspends or resumes a part. Returns false if the part was already suspended or resumed.
    ///   - predicate: Returns the predicate of the sentence; `isNew` is true if a part has changed.
    func run(
        _ redis: RedisOptions, warns: Bool = false, change: (BatchController, BatchID?, QueuePart) throws -> Bool,
        predicate: (_ isNew: Bool) -> String
    ) throws {
        let (redis, name) = try redis.resolving(batch)
        let client = try redis.connect()
        let found = try name.map { try client.store.batch(named: $0) }
        var isNew = false
        for part in parts where try change(client.control, found?.id, part) { isNew = true }
        let sentence = "\(subject(found?.label)) \(predicate(isNew))"
        let output = ControlOutput(client: client, redis: redis, isJSON: json)
        guard let found else { return try output.write(sentence) }
        let changed = try found.refreshed(client)
        try output.write(sentence, changed)
        if warns { try output.warn(of: changed) }
    }

    /// The subject of the result sentence: `batch holidays`, `downloads of the cluster`.
    private func subject(_ label: String?) -> String {
        let whole = label.map { "batch \($0)" } ?? "the cluster"
        return parts == [.everything] ? whole : parts.map(\.rawValue).joined(separator: " and ") + " of \(whole)"
    }

    /// The singular `one` for a whole batch or cluster, otherwise the plural `many`.
    func verb(_ one: String, _ many: String) -> String { parts == [.everything] ? one : many }
}

/// `darkroom suspend`: workers start no more downloads or filtrations of a batch or of the cluster.
struct SuspendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "suspend", abstract: "Suspend a batch or the cluster: no new work starts.",
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
        try what.run(redis, change: { try $0.suspend($1, $2) }) {
            $0 ? "\(what.verb("is", "are")) suspended" : "\(what.verb("was", "were")) suspended already"
        }
    }
}
