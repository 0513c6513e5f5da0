import DarkroomModel

extension BatchStore {
    /// Feeds operation `number`, which must be the next operation of the batch. Repeating the call does no harm.
    /// - Parameters:
    ///   - id: the batch.
    ///   - number: the operation number, counted from 1. Only the last operation may contain fewer photos than the
    ///     batch's operation size.
    ///   - photos: the number of photos in the entry.
    ///   - entry: the photos, packed (see `OperationEntry`).
    ///   - digest: the chained digest of the feed up to and including this operation, in hexadecimal.
    package func feed(
        _ id: BatchID, operation number: Int, photos: Int, entry: [UInt8], digest: String
    ) -> ScriptCall<FeedReply> {
        call(\.feed, [id, number, photos, entry, digest])
    }
}

/// The reply of ``BatchStore/feed(_:operation:photos:entry:digest:)``. Only ``fed`` means that something was written.
package enum FeedReply: Sendable, Equatable, ScriptReplyDecodable {
    case fed
    case gone
    /// The next operation to feed has this number.
    case expects(Int)
    case sealed
    /// The previous operation has fewer photos than the operation size, so no operation can follow it.
    case short
    /// The number of operations that have not ended has reached the feed window: try again later.
    case full
    case cancelled

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .fed
        case "GONE": self = .gone
        case "EXPECT": self = .expects(try reply.int(1))
        case "SEALED": self = .sealed
        case "SHORT": self = .short
        case "FULL": self = .full
        case "CANCELLED": self = .cancelled
        default: throw reply.unexpected
        }
    }
}
