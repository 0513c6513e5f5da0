import DarkroomModel

extension BatchStore {
    /// Forgets a batch, one bounded step a call. Call again while the reply is `more`.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: whether an unfinished batch is forgotten, too. Its workers then drop the operations that they hold.
    package func forget(_ id: BatchID, unfinished: Bool = false) -> ScriptCall<ForgetReply> {
        call(StoreScripts.forget, [id, unfinished])
    }
}

package enum ForgetReply: Sendable, Equatable, ScriptReplyDecodable {
    case forgotten
    case more
    case gone
    /// The batch is not finished; nothing was done.
    case unfinished(BatchState)

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .forgotten
        case "MORE": self = .more
        case "GONE": self = .gone
        case "UNFINISHED":
            guard let state = BatchState(rawValue: try reply.string(1)) else { throw reply.unexpected }
            self = .unfinished(state)
        default: throw reply.unexpected
        }
    }
}
