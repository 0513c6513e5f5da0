import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Downloads the bytes of one photo, without occupying a thread.
final class ImageDownloader: AsynchronousOperation, @unchecked Sendable {
    // Unchecked: all mutable state is in `progress`, behind a lock.
    private struct Progress {
        var fetch: (any PhotoFetch)?
        var order: TransferOrder
        var image: Download?
    }

    /// The photo; if `isStored` of its task is true, its bytes are in the batch's folder of originals.
    let photo: RunningPhoto
    /// What the fetch asks and tells at its steps.
    let steps: TransferSteps
    private let source: any PhotoSource
    private let progress: Locked<Progress>
    private let onEnd: @Sendable (Result<Download, TransferError>) -> Void

    /// - Parameter onEnd: called with the result, once, before the operation is finished.
    init(
        _ photo: RunningPhoto, source: any PhotoSource, urgency: Urgency, steps: TransferSteps,
        onEnd: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        self.photo = photo
        self.source = source
        self.steps = steps
        self.onEnd = onEnd
        progress = Locked(Progress(order: Self.order(photo, urgency)))
        super.init()
        qualityOfService = .userInitiated
        queuePriority = urgency.priority.ofQueue
    }

    /// Whether the fetch may begin; if not, the download ends as cancelled.
    func mayBegin() -> Bool { steps.mayBegin?() ?? true }

    override func begin() {
        guard !photo.cancellation.isCancelled else {
            return end(.failure(TransferError(code: .cancelled, detail: "cancelled before it began")))
        }
        source.fetch(for: self)
    }

    /// Begins to fetch the photo's bytes: calls `start` with the current position among the waiting fetches.
    func begin(_ start: (TransferOrder) -> any PhotoFetch) {
        let order = progress.withLock { $0.order }
        let fetch = start(order)
        let latest = progress.withLock { progress in
            progress.fetch = fetch
            return progress.order
        }
        // The urgency or the cancellation may have changed before `fetch` was set.
        if latest != order { fetch.reorder(latest) }
        fetch.stop(photo.cancellation.level)
    }

    /// Stops the download after the task was cancelled or withdrawn.
    func stop(_ level: CancellationToken.Level) { progress.withLock { $0.fetch }?.stop(level) }

    /// Changes the urgency unless the download has started.
    func reorder(_ urgency: Urgency) {
        queuePriority = urgency.priority.ofQueue
        let order = Self.order(photo, urgency)
        progress.withLock { progress in
            progress.order = order
            return progress.fetch
        }?.reorder(order)
    }

    /// Removes and returns the downloaded bytes; nil if there are no bytes.
    func takeImage() -> Download? {
        progress.withLock { progress in
            defer { progress.image = nil }
            return progress.image
        }
    }

    private static func order(_ photo: RunningPhoto, _ urgency: Urgency) -> TransferOrder {
        TransferOrder(
            priority: urgency.priority.rank, isFirst: urgency.isInFocus, group: photo.operation.batch.description)
    }

    /// Ends the download.
    func end(_ result: Result<Download, TransferError>) {
        if case .success(let download) = result { progress.withLock { $0.image = download } }
        onEnd(result)
        finish()
    }
}

extension BatchPriority {
    var ofQueue: Operation.QueuePriority {
        switch self {
        case .veryLow: .veryLow
        case .low: .low
        case .normal: .normal
        case .high: .high
        case .veryHigh: .veryHigh
        }
    }
}
