import ArgumentParsing
import Darkroom
import DarkroomStore
import DarkroomText

/// Options for the start of a batch, the notification of its end, and its data in Redis.
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

    /// Fills the fields of these options.
    func fill(_ form: inout Submission) throws(FieldError) {
        if webhook == "", let problem = BatchOptions.problem(ofWebhook: "") { throw FieldError(.webhook, problem) }
        form.batchesBefore = after
        form.name = name ?? ""
        form.operationSize = operationSize
        form.lease = lease
        form.window = window.value
        form.retain = retain.duration
        form.priority = priority
        form.afterSuccess = afterSuccess
        form.webhook = webhook ?? ""
    }
}
