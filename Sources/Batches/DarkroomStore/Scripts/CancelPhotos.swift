import DarkroomModel

extension BatchStore {
    /// Cancels individual photos of a batch.
    /// - Parameters:
    ///   - id: the batch.
    ///   - ranges: disjoint ranges of indexes from 0, at most 1,000 photos in total.
    package func cancelPhotos(_ id: BatchID, _ ranges: [ClosedRange<Int>]) -> ScriptCall<CancelPhotosReply> {
        call(\.cancelPhotos, [id] + ranges.flatMap { [$0.lowerBound, $0.upperBound] })
    }
}

package enum CancelPhotosReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The number of photos that this call cancelled, and the number of photos that were already final.
    case cancelled(Int, wereFinal: Int)
    /// A range exceeds the number of photos fed so far, which is `photos`. Nothing was done.
    case notFed(photos: Int)
    case finished
    /// The whole batch was already cancelled.
    case cancelledBefore
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .cancelled(try reply.int(1), wereFinal: try reply.int(2))
        case "UNFED": self = .notFed(photos: try reply.int(1))
        case "FINISHED": self = .finished
        case "CANCELLED": self = .cancelledBefore
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
