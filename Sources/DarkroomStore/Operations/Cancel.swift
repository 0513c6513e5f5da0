import DarkroomModel

extension BatchStore {
    /// Cancels a batch: no more operations are claimed, and photos that are not final count as cancelled.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reason: a text for people; empty if a user cancelled the batch.
    package func cancel(_ id: BatchID, reason: String = "") -> ScriptCall<CancelReply> {
        call(StoreScripts.cancel, [id, reason])
    }
}

package enum CancelReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The batch is cancelled, by this call if `isNew`. It is finished as soon as no operation of it executes.
    case cancelled(isNew: Bool, isFinished: Bool)
    /// The batch had finished before, without a cancel.
    case finished
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .cancelled(isNew: try reply.int(1) == 1, isFinished: try reply.int(2) == 1)
        case "FINISHED": self = .finished
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
