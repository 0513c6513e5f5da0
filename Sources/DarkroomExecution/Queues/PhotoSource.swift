import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState

/// Where the bytes of photos come from.
package protocol PhotoSource: Sendable {
    /// Begins to get a photo's bytes.
    /// - Parameters:
    ///   - photo: which; ``PhotoTask/isStored`` says that they lie in its batch's folder of originals.
    ///   - order: when it is its turn where it has to wait.
    ///   - mayBegin: asked right before it begins; after no it ends as cancelled.
    ///   - waits: told when it begins to wait for its turn, or for another attempt; `mayBegin` ends that.
    ///   - completion: called exactly once, on any thread, also before this returns.
    /// - Returns: what can be stopped; nil when it is over already.
    func fetch(
        _ photo: PhotoTask, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)?
}

/// A photo whose bytes are on their way.
package protocol PhotoFetch: Sendable {
    /// Ends it if it is cancelled, or if it is withdrawn and has not begun.
    func stop(_ level: CancellationToken.Level)
    /// Changes its place among those that wait, unless it has begun.
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

/// The network, and `file:` URLs.
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
