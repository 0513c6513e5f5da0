import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState

/// A source of the bytes of photos.
package protocol PhotoSource: Sendable {
    /// Starts to fetch a photo's bytes.
    /// - Parameters:
    ///   - photo: the photo; if ``PhotoTask/isStored`` is true, its bytes are in the batch's folder of originals.
    ///   - order: the priority of the photo among the waiting photos.
    ///   - mayBegin: called directly before the fetch starts; if it returns false, the fetch ends as cancelled.
    ///   - waits: called when the fetch starts to wait for its host or for its next attempt; `mayBegin` ends the wait.
    ///   - completion: called exactly once, on any thread, possibly before this call returns.
    /// - Returns: the running fetch; nil if the fetch has already ended.
    func fetch(
        _ photo: PhotoTask, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)?
}

/// A running fetch of a photo's bytes.
package protocol PhotoFetch: Sendable {
    /// Ends the fetch if the photo is cancelled. If the photo is withdrawn, ends the fetch unless it has started.
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

/// A source that fetches photos from the network and from `file:` URLs.
package struct TransferSource: PhotoSource {
    private let engine: TransferEngine

    package init(engine: TransferEngine) { self.engine = engine }

    package func fetch(
        _ photo: PhotoTask, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)? {
        guard let problem = PhotoURL.check(photo.record.url) else {
            return engine.start(
                photo.record.url, order: order, mayBegin: mayBegin, waits: waits, completion: completion)
        }
        let code: TransferError.Code =
            !mayBegin() ? .cancelled : problem.reason == .schemeDenied ? .schemeDenied : .notAURL
        completion(.failure(TransferError(code: code, detail: problem.detail, attempts: 0)))
        return nil
    }
}
