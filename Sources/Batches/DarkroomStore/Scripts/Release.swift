import DarkroomHosts
import DarkroomModel
import DarkroomText

extension BatchStore {
    /// Releases an operation: it is queued again, and no lease expiry is counted. Repeating the call does no harm.
    /// - Parameters:
    ///   - held: the operation, with the fencing token of its claim.
    ///   - worker: the worker that holds the operation.
    ///   - isRefused: whether the worker refuses the batch. In this case no change notice is published, because many
    ///     workers may refuse the same batch.
    ///   - delay: the time during which the operation is deferred, so that no worker can claim it. A delay of more than
    ///     an hour is shortened to an hour.
    ///   - retries: the download attempts of photos, by the position of the photo in the operation. The worker that
    ///     claims the operation next receives this information.
    package func release(
        _ held: HeldOperation, worker: String, isRefused: Bool = false, after delay: Duration = .zero,
        retries: [Int: RetryHistory] = [:]
    ) -> ScriptCall<ReleaseReply> {
        call(
            \.release,
            [
                worker, held.fencingToken, held.batch, held.number, isRefused,
                min(delay, Deferral.longest).wholeMilliseconds, RetryCoding.text(of: retries, at: .now),
            ])
    }
}

package enum ReleaseReply: Sendable, Equatable, ScriptReplyDecodable {
    case queued
    case gone
    /// The operation is queued again, or another worker holds it.
    case lost
    /// The operation has ended; `stateCodes` are the state codes of its photos.
    case ended(stateCodes: [UInt8])
    /// The batch is cancelled, so the operation has ended. Photos that were not final have the state code C.
    case cancelled(stateCodes: [UInt8])

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .queued
        case "GONE": self = .gone
        case "LOST": self = .lost
        case "ENDED": self = .ended(stateCodes: try reply.bytes(1))
        case "CANCELLED": self = .cancelled(stateCodes: try reply.bytes(1))
        default: throw reply.unexpected
        }
    }
}
