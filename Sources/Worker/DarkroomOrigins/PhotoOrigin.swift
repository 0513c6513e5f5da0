import DarkroomConcurrency
import DarkroomTransfer

/// A source of photos: the servers of the web, or the files of this machine. ``OriginSchemes`` has an origin for each
/// scheme of URLs. The functions do not block, and any thread may call them.
package protocol PhotoOrigin: Sendable {
    /// The reason why the URL of a photo must not be fetched; nil if it may be fetched. ``CachedOrigin`` calls this
    /// function before it reads the photo from its folder. ``fetch(_:completion:)`` does not rely on this call.
    func problem(of url: String) -> TransferError?

    /// Fetches the bytes of a photo. The `completion` is called exactly once, on any thread, possibly before this call
    /// returns.
    ///
    /// The origin calls ``PhotoRequest/mayBegin()`` just before it uses the network or a disk; if the result is false,
    /// the fetch ends with `.cancelled`. An origin whose fetches wait or take long starts each fetch in
    /// ``PhotoRequest/begin(_:)``, so that the fetch can be stopped. A ``Download`` that was not read from a cache has
    /// at least one download attempt.
    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion)
}

/// Receives the result of a fetch.
package typealias FetchCompletion = @Sendable (Result<Download, TransferError>) -> Void

/// A running fetch of a photo's bytes.
package protocol PhotoFetch: Sendable {
    /// Ends the fetch if the photo is cancelled. If the photo is withdrawn, ends the fetch only if it is waiting.
    func stop(_ level: CancellationToken.Level)
    /// Changes the position of the fetch among the waiting fetches, unless the fetch has started.
    func reorder(_ order: TransferOrder)
}

extension Transfer: PhotoFetch {
    package func stop(_ level: CancellationToken.Level) {
        switch level {
        case .none: break
        case .withdrawn: withdraw()
        case .cancelled: cancel()
        }
    }
}

extension TransferEngine {
    /// Fetches the URL of a photo.
    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        request.begin { order in
            start(
                request.record.url, order: order, steps: request.steps, history: request.history, completion: completion
            )
        }
    }
}
