import DarkroomModel

extension BatchStore {
    /// Seals a batch, so that nothing more can be fed. Does nothing if the totals in Redis are not `operations` and
    /// `photos`. The call is idempotent.
    package func seal(_ id: BatchID, operations: Int, photos: Int) -> ScriptCall<SealReply> {
        call(\.seal, [id, operations, photos])
    }
}

package enum SealReply: Sendable, Equatable, ScriptReplyDecodable {
    case sealed
    case gone
    /// The totals in Redis, which differ; the batch was not sealed.
    case differs(operations: Int, photos: Int)
    case cancelled

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .sealed
        case "GONE": self = .gone
        case "DIFFERS": self = .differs(operations: try reply.int(1), photos: try reply.int(2))
        case "CANCELLED": self = .cancelled
        default: throw reply.unexpected
        }
    }
}
