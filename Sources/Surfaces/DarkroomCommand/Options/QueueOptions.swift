import ArgumentParsing
import Darkroom
import DarkroomStore

/// How long Redis keeps a finished batch.
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

    /// The duration; nil means forever.
    var duration: Duration? {
        if case .duration(let duration) = self { duration } else { nil }
    }
}

/// Options for when a batch starts, who is notified of its end, and how Redis stores it.
struct QueueOptions: ParsableArguments {
    @Option(
        help: "The name of the batch; no other unfinished batch may have it.", valueName: "name",
        synonyms: ["title", "label", "id"])
    var name: String?
    @Option(
        help: "The priority: workers claim batches of a higher priority first; batches of equal priority alternate.",
        valueName: "priority")
    var priority: BatchPriority = .normal
    @Option(
        help:
            "Start when this batch has finished, even if it was cancelled or some of its photos failed.",
        valueName: "batch")
    var after: [String]
    @Flag(help: "With --after: cancel this batch if one of those batches was cancelled or had failed photos.")
    var afterSuccess: Bool
    @Option(
        help: """
            When the batch has finished, a worker sends the facts of the batch to this URL by POST. Only workers whose \
            --webhook-hosts contain the host of the URL do this; a worker that has a secret signs the request.
            """,
        valueName: "url",
        synonyms: ["callback", "notify"])
    var webhook: String?
    @Option(help: "Photos per operation, 1 to 1000.", valueName: "count") var operationSize: Int = 50
    @Option(help: "After this time without a heartbeat, other workers claim an operation.", valueName: "duration")
    var lease: Duration = .seconds(15)
    @Option(help: "The most queued and executing operations.", valueName: "count") var window: Quantity = 10_000
    @Option(help: "How long Redis keeps the finished batch, or \"forever\".", valueName: "duration")
    var retain: Retention = .duration(.seconds(24 * 3600))

    func validate() throws {
        guard BatchOptions.operationSizes.contains(operationSize) else {
            throw ValidationError("--operation-size \(operationSize): from 1 to 1000")
        }
        let leases = BatchOptions.leaseMilliseconds
        guard lease >= .milliseconds(leases.lowerBound) else {
            throw ValidationError("--lease \(lease.argumentText): at least 6s, so that two heartbeats may get lost")
        }
        guard lease <= .milliseconds(leases.upperBound) else {
            throw ValidationError(
                "--lease \(lease.argumentText): at most 24h, since the photos of a lost worker wait that long")
        }
        try requireAtLeast(BatchOptions.windows.lowerBound, window.value, "--window")
        guard after.count <= BatchOptions.mostBatchesBefore else {
            throw ValidationError(
                "--after: \(after.count) batches, at most \(BatchOptions.mostBatchesBefore) are possible; let one of "
                    + "them wait for others")
        }
        if afterSuccess, after.isEmpty {
            throw ValidationError("--after-success: name the batches that must succeed, with --after <batch>")
        }
        if let name, let problem = BatchOptions.problem(ofName: name) {
            throw ValidationError("--name \"\(name.prefix(40))\": \(problem)")
        }
        if let webhook, let problem = BatchOptions.problem(ofWebhook: webhook) {
            throw ValidationError("--webhook: \(problem)")
        }
    }

    func batchesBefore(in client: DarkroomClient) throws -> [BatchID] {
        do throws(StoreError) {
            return try client.batches(named: after).map(\.id)
        } catch {
            guard [.noSuchBatch, .ambiguousBatch].contains(error.code) else { throw error }
            throw CommandError("--after: \(error)")
        }
    }

    /// Applies these options to the options of a batch.
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
