import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The download of an image, as far as the filtration uses it.
protocol ImageDataProvider: AnyObject, Sendable {
    /// Removes and returns the downloaded bytes; nil if there are no bytes.
    func takeImage() -> Download?
}

/// Downloads the bytes of one photo, without occupying a thread.
final class ImageDownloader: AsynchronousOperation, ImageDataProvider, @unchecked Sendable {
    // all mutable state is behind a lock
    private struct Progress {
        var fetch: (any PhotoFetch)?
        var order: TransferOrder
        var image: Download?
    }

    private let task: PhotoTask
    private let source: any PhotoSource
    private let progress: Locked<Progress>
    private let mayBegin: @Sendable (PhotoTask) -> Bool
    private let waits: @Sendable (PhotoTask) -> Void
    private let onEnd: @Sendable (PhotoTask, Result<Download, TransferError>) -> Void

    /// - Parameters:
    ///   - task: the photo.
    ///   - source: the source of the photo's bytes.
    ///   - urgency: its priority among the waiting photos.
    ///   - mayBegin: called directly before the download starts; if it returns false, the download ends as cancelled.
    ///   - waits: called when the download starts to wait for its host or for its next attempt.
    ///   - onEnd: called once with the result, before the operation is finished.
    init(
        _ task: PhotoTask, source: any PhotoSource, urgency: Urgency,
        mayBegin: @escaping @Sendable (PhotoTask) -> Bool, waits: @escaping @Sendable (PhotoTask) -> Void,
        onEnd: @escaping @Sendable (PhotoTask, Result<Download, TransferError>) -> Void
    ) {
        self.task = task
        self.source = source
        self.mayBegin = mayBegin
        self.waits = waits
        self.onEnd = onEnd
        progress = Locked(Progress(order: Self.order(task, urgency)))
        super.init()
        qualityOfService = .userInitiated
        queuePriority = urgency.priority.ofQueue
    }

    override func begin() {
        guard !task.cancellation.isCancelled else {
            end(.failure(TransferError(code: .cancelled, detail: "cancelled before it began", attempts: 0)))
            return
        }
        let order = progress.withLock { $0.order }
        let fetch = source.fetch(
            task, order: order, mayBegin: { [mayBegin, task] in mayBegin(task) },
            waits: { [waits, task] in waits(task) }, completion: { [self] in end($0) })
        guard let fetch else { return }
        let latest = progress.withLock { progress in
            progress.fetch = fetch
            return progress.order
        }
        // The urgency or the cancellation may have changed before `fetch` was set.
        if latest != order { fetch.reorder(latest) }
        fetch.stop(task.cancellation.level)
    }

    /// Stops the download after the task was cancelled or withdrawn.
    func stop(_ level: CancellationToken.Level) { progress.withLock { $0.fetch }?.stop(level) }

    /// Changes the urgency unless the download has started.
    func reorder(_ urgency: Urgency) {
        queuePriority = urgency.priority.ofQueue
        let order = Self.order(task, urgency)
        progress.withLock { progress in
            progress.order = order
            return progress.fetch
        }?.reorder(order)
    }

    func takeImage() -> Download? {
        progress.withLock { progress in
            defer { progress.image = nil }
            return progress.image
        }
    }

    private static func order(_ task: PhotoTask, _ urgency: Urgency) -> TransferOrder {
        TransferOrder(
            priority: urgency.priority.rank, isFirst: urgency.isInFocus, group: task.operation.batch.description)
    }

    private func end(_ result: Result<Download, TransferError>) {
        if case .success(let download) = result { progress.withLock { $0.image = download } }
        onEnd(task, result)
        finish()
    }
}

extension BatchPriority {
    /// The operation queue priority for the photos of a batch.
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
