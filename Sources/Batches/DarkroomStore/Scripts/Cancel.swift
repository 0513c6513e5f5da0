import DarkroomModel

extension BatchStore {
    /// Cancels a batch: no more of its operations are claimed, and its photos that are not final count as cancelled.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reason: a text for users; empty if a user cancelled the batch.
    package func cancel(_ id: BatchID, reason: String = "") -> ScriptCall<CancelReply> {
        call(\.cancel, [id, reason])
    }
}

package enum CancelReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The batch is cancelled; `isNew` if this call cancelled it. The batch is finished as soon as none of its
    /// operations is executing.
    case cancelled(isNew: Bool, isFinished: Bool)
    /// The batch had already finished without being cancelled.
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
