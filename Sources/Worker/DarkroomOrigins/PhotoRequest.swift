import DarkroomConcurrency
import DarkroomHosts
import DarkroomModel
import DarkroomTransfer

/// A request to a ``PhotoOrigin`` for the bytes of one photo. Any thread can stop or reorder the request, before and
/// after the origin has begun it.
package final class PhotoRequest: Sendable {
    package let record: PhotoRecord
    /// The operation of the photo.
    package let operation: HeldOperation
    package let cancellation: CancellationToken
    /// The functions that the fetch calls at its steps.
    package let steps: TransferSteps
    /// The earlier download attempts of the photo.
    package let history: RetryHistory
    private let progress: Locked<(order: TransferOrder, fetch: (any PhotoFetch)?)>

    package init(
        _ record: PhotoRecord, of operation: HeldOperation, order: TransferOrder = TransferOrder(),
        cancellation: CancellationToken = CancellationToken(), steps: TransferSteps = TransferSteps(),
        history: RetryHistory = RetryHistory()
    ) {
        self.record = record
        self.operation = operation
        self.cancellation = cancellation
        self.steps = steps
        self.history = history
        progress = Locked((order, nil))
    }

    /// Whether the fetch may begin; if not, it ends with `.cancelled`.
    package func mayBegin() -> Bool { steps.mayBegin?() ?? true }

    /// Begins to fetch the photo's bytes: calls `start` with the current position among the waiting fetches.
    package func begin(_ start: (TransferOrder) -> any PhotoFetch) {
        let order = progress.withLock { $0.order }
        let fetch = start(order)
        let latest = progress.withLock { progress in
            progress.fetch = fetch
            return progress.order
        }
        // The order or the cancellation may have changed before `fetch` was set.
        if latest != order { fetch.reorder(latest) }
        fetch.stop(cancellation.level)
    }

    /// Stops the fetch after the photo was cancelled or withdrawn.
    package func stop(_ level: CancellationToken.Level) { progress.withLock { $0.fetch }?.stop(level) }

    /// Changes the position among the waiting fetches, unless the fetch has started.
    package func reorder(_ order: TransferOrder) {
        progress.withLock { progress in
            progress.order = order
            return progress.fetch
        }?.reorder(order)
    }
}
