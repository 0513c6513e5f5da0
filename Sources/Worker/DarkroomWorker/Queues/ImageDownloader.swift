import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Downloads the bytes of one photo, without occupying a thread.
final class ImageDownloader: AsynchronousOperation, @unchecked Sendable {
    // Unchecked: all mutable state is in `request` and `image`, behind locks.

    /// The photo; if `isStored` of its task is true, its bytes are in the batch's folder of originals.
    let photo: RunningPhoto
    private let request: PhotoRequest
    private let fetch: Fetch
    private let image = Locked<Download?>(nil)
    private let onEnd: FetchCompletion

    /// Fetches the bytes of a photo.
    typealias Fetch = @Sendable (PhotoRequest, @escaping FetchCompletion) -> Void

    /// - Parameters:
    ///   - steps: the functions that the fetch calls at its steps.
    ///   - onEnd: called with the result, once, before the operation is finished.
    init(
        _ photo: RunningPhoto, urgency: Urgency, steps: TransferSteps, fetch: @escaping Fetch,
        onEnd: @escaping FetchCompletion
    ) {
        self.photo = photo
        self.fetch = fetch
        self.onEnd = onEnd
        request = PhotoRequest(
            photo.record, of: photo.operation, order: Self.order(photo, urgency), cancellation: photo.cancellation,
            steps: steps, history: photo.task.history)
        super.init()
        qualityOfService = .userInitiated
        queuePriority = urgency.priority.ofQueue
    }

    override func begin() {
        guard !photo.cancellation.isCancelled else {
            return end(.failure(TransferError(code: .cancelled, detail: "cancelled before it began")))
        }
        fetch(request, end)
    }

    /// Stops the download after the task was cancelled or withdrawn.
    func stop(_ level: CancellationToken.Level) { request.stop(level) }

    /// Changes the urgency unless the download has started.
    func reorder(_ urgency: Urgency) {
        queuePriority = urgency.priority.ofQueue
        request.reorder(Self.order(photo, urgency))
    }

    /// Removes and returns the downloaded bytes; nil if there are no bytes.
    func takeImage() -> Download? { image.exchange(nil) }

    private static func order(_ photo: RunningPhoto, _ urgency: Urgency) -> TransferOrder {
        TransferOrder(
            priority: urgency.priority.rank, isFirst: urgency.isInFocus, group: photo.operation.batch.description)
    }

    /// Ends the download.
    private func end(_ result: Result<Download, TransferError>) {
        if case .success(let download) = result { image.withLock { $0 = download } }
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
