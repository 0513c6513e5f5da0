import DarkroomModel

extension BatchStore {
    /// Cancels single photos of a batch.
    /// - Parameters:
    ///   - id: the batch.
    ///   - ranges: indexes from 0, disjoint, at most 1,000 photos together.
    package func cancelPhotos(_ id: BatchID, _ ranges: [ClosedRange<Int>]) -> ScriptCall<CancelPhotosReply> {
        call(StoreScripts.cancelPhotos, [id] + ranges.flatMap { [$0.lowerBound, $0.upperBound] })
    }
}

package enum CancelPhotosReply: Sendable, Equatable, ScriptReplyDecodable {
    /// How many photos this call cancelled, and how many were final before.
    case cancelled(Int, wereFinal: Int)
    /// Only so many photos are fed, and a range goes beyond them; nothing was done.
    case notFed(photos: Int)
    case finished
    /// The whole batch was cancelled before.
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
