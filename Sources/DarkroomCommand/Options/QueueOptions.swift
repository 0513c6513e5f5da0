import ArgumentParsing
import Darkroom
import DarkroomStore
import DarkroomText

/// How long a finished batch is remembered.
enum Retention: ExpressibleByArgument {
    case duration(Duration)
    case forever

    init(argument: String) throws {
        if argument == "forever" {
            self = .forever
        } else {
            do {
                self = .duration(try Duration(argument: argument))
            } catch {
                throw InvalidValue("\(error), or \"forever\"")
            }
        }
    }

    var argumentText: String {
        switch self {
        case .duration(let duration): duration.argumentText
        case .forever: "forever"
        }
    }

    /// The duration; nil for ever.
    var duration: Duration? {
        if case .duration(let duration) = self { duration } else { nil }
    }
}

/// How a batch stands in the queue.
struct QueueOptions: ParsableArguments {
    /// As many as one call of the script takes.
    private static let mostBatchesBefore = 100

    @Option(
        help: "What the batch is called; no other batch that has not finished may have that name.", valueName: "name")
    var name: String?
    @Option(
        help: "How urgent it is: batches that can begin are begun by priority, in turn within one.",
        valueName: "priority")
    var priority: BatchPriority = .normal
    @Option(
        help:
            "Begin when this batch has finished, also when it was cancelled or photos of it failed; again for several.",
        valueName: "batch")
    var after: [String]
    @Flag(help: "With --after: cancel this batch when one of those was cancelled or photos of it failed.")
    var afterSuccess: Bool
    @Option(
        help: """
            Tell this URL when it has finished, by a POST with its facts. Workers do so that were started with the URL's \
            host in their --webhook-hosts; they sign it when they have a secret.
            """,
        valueName: "url")
    var webhook: String?
    @Option(help: "Photos an operation, 1 to 1000.", valueName: "count") var operationSize: Int = 50
    @Option(help: "How long a worker may be silent before others take its work.", valueName: "duration")
    var lease: Duration = .seconds(15)
    @Option(help: "The most operations that wait in Redis or run.", valueName: "count") var window: Quantity = 10_000
    @Option(help: "How long it is remembered after it finished, or \"forever\".", valueName: "duration")
    var retain: Retention = .duration(.seconds(24 * 3600))

    func validate() throws {
        guard (1...1000).contains(operationSize) else {
            throw ValidationError("--operation-size \(operationSize): from 1 to 1000")
        }
        let leases = BatchOptions.leaseMilliseconds
        guard lease >= .milliseconds(leases.lowerBound) else {
            throw ValidationError("--lease \(lease.argumentText): at least 6s, so that two heartbeats may get lost")
        }
        guard lease <= .milliseconds(leases.upperBound) else {
            throw ValidationError(
                "--lease \(lease.argumentText): at most 24h, since the photos of a worker that died wait so long")
        }
        try requireAtLeast(1, window.value, "--window")
        guard after.count <= Self.mostBatchesBefore else {
            throw ValidationError(
                "--after: \(after.count) batches, at most \(Self.mostBatchesBefore) can be waited for at once; let one of "
                    + "them wait for others")
        }
        if afterSuccess, after.isEmpty {
            throw ValidationError("--after-success: name the batches that must succeed, with --after <batch>")
        }
        if let name { try Self.checkName(name) }
        if let webhook { try Self.checkWebhook(webhook) }
    }

    /// A name is typed, and shown in tables.
    private static func checkName(_ name: String) throws(ValidationError) {
        guard name == PrintableText.escaped(name) else {
            throw ValidationError("--name \"\(name)\": it has characters that are not seen; leave them out")
        }
        guard name.utf8.count <= 200 else {
            throw ValidationError("--name: \(name.utf8.count) bytes; at most 200")
        }
    }

    /// The batches that must finish first, each once.
    func batchesBefore(in client: DarkroomClient) throws -> [BatchID] {
        var batches: [BatchID] = []
        for name in after {
            do throws(StoreError) {
                let id = try client.store.batch(named: name).id
                if !batches.contains(id) { batches.append(id) }
            } catch {
                guard [.noSuchBatch, .ambiguousBatch].contains(error.code) else { throw error }
                throw CommandError("--after: \(error)")
            }
        }
        return batches
    }

    /// Refuses what is no address of the web. The messages show neither user and password nor the query.
    private static func checkWebhook(_ url: String) throws(ValidationError) {
        if let problem = PhotoURL.check(url) {
            throw ValidationError("--webhook: \(problem.detail); write it like https://photos.example/finished")
        }
        guard !PhotoURL.isFile(url) else {
            throw ValidationError(
                "--webhook: a file cannot be told anything; write it like https://photos.example/finished")
        }
        // By bytes: with a combining character behind it, "@" is another Character.
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw ValidationError(
                "--webhook: the URL has a user or password, which everybody who sees the batch could read; leave it out: "
                    + "what is told is signed with the workers' --webhook-secret-file instead")
        }
    }

    /// Puts these into what a batch asks for.
    func apply(to options: inout BatchOptions) {
        options.name = name ?? ""
        options.operationSize = operationSize
        options.lease = lease
        options.window = window.value
        options.retain = retain.duration
        options.priority = priority
        options.afterSuccess = afterSuccess
        options.webhook = webhook ?? ""
    }
}
