import DarkroomModel

extension BatchStore {
    /// Queues failed photos again, one bounded step a call.
    /// - Parameters:
    ///   - id: the batch.
    ///   - first: the first operation to look at.
    ///   - last: the last operation to look at; may be beyond the last one that is fed.
    ///   - reasons: only photos that failed for one of these reasons; none means all.
    ///   - overwrite: whether the batch takes its output folder back from a batch that has taken it.
    ///   - seen: the number in the holder file of the output folder; 0 if there is none.
    package func retry(
        _ id: BatchID, from first: Int = 1, through last: Int = 1_000_000_000, reasons: [FailureReason] = [],
        overwrite: Bool = false, above seen: Int = 0
    ) -> ScriptCall<RetryReply> {
        call(StoreScripts.retry, [id, first, last, reasons.map(\.stateCode), overwrite ? String(seen) : ""])
    }
}

package enum RetryReply: Sendable, Equatable, ScriptReplyDecodable {
    /// How many photos are queued again, how many failed photos have no entry, and the operation at which the next step
    /// begins (nil: none).
    case retried(photos: Int, notKept: Int, next: Int?)
    case cancelled
    /// The dependents of the batch are being released: try again.
    case busy
    /// That batch has taken the output folder; nothing was done.
    case outputTaken(by: BatchID)
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK":
            let next = try reply.int(3)
            self = .retried(photos: try reply.int(1), notKept: try reply.int(2), next: next == 0 ? nil : next)
        case "CANCELLED": self = .cancelled
        case "BUSY": self = .busy
        case "OUTPUT": self = .outputTaken(by: try reply.batch(1))
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
