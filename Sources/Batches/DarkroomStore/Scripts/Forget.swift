import DarkroomModel

extension BatchStore {
    /// Forgets a batch. Each call does one bounded step. Call again as long as the reply is `more`.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: whether an unfinished batch may be forgotten. The workers that hold operations of such a batch
    ///     release these operations.
    package func forget(_ id: BatchID, unfinished: Bool = false) -> ScriptCall<ForgetReply> {
        call(\.forget, [id, unfinished])
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
