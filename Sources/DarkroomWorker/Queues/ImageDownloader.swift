import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import Foundation

/// How a filtration takes the image from the operation that got it.
protocol ImageDataProvider: AnyObject, Sendable {
    /// Takes the downloaded bytes out; nil when there are none (any more).
    func takeImage() -> Download?
}

/// Gets the bytes of one photo; holds no thread meanwhile.
final class ImageDownloader: AsynchronousOperation, ImageDataProvider, @unchecked Sendable {
    // everything that changes is behind a lock
    private struct Progress {
        var fetch: (any PhotoFetch)?
        var order: TransferOrder
        var image: Download?
    }

    private let photo: PhotoInProgress
    private let source: any PhotoSource
    private let progress: Locked<Progress>
    private let mayBegin: @Sendable (PhotoInProgress) -> Bool
    private let waits: @Sendable (PhotoInProgress) -> Void
    private let onEnd: @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void

    /// - Parameters:
    ///   - photo: whose bytes.
    ///   - source: where they come from.
    ///   - urgency: when it is its turn.
    ///   - mayBegin: asked right before the download begins; after no it ends as cancelled.
    ///   - waits: told when it begins to wait for its turn, or for another attempt.
    ///   - onEnd: what came of it, called before the operation is finished, never twice.
    init(
        _ photo: PhotoInProgress, source: any PhotoSource, urgency: Urgency,
        mayBegin: @escaping @Sendable (PhotoInProgress) -> Bool, waits: @escaping @Sendable (PhotoInProgress) -> Void,
        onEnd: @escaping @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void
    ) {
        self.photo = photo
        self.source = source
        self.mayBegin = mayBegin
        self.waits = waits
        self.onEnd = onEnd
        progress = Locked(Progress(order: Self.order(photo, urgency)))
        super.init()
        qualityOfService = .userInitiated
        queuePriority = urgency.priority.ofQueue
    }

    override func begin() {
        guard !photo.cancelled.isSet, !isCancelled else {
            end(.failure(TransferError(code: .cancelled, detail: "cancelled before it began", attempts: 0)))
            return
        }
        let order = progress.withLock { $0.order }
        let fetch = source.fetch(
            photo, order: order, mayBegin: { [mayBegin, photo] in mayBegin(photo) },
            waits: { [waits, photo] in waits(photo) }, completion: { [self] in end($0) })
        guard let fetch else { return }
        let latest = progress.withLock { progress in
            progress.fetch = fetch
            return progress.order
        }
        // Any of these may have come between the lines before.
        if latest != order { fetch.reorder(latest) }
        if photo.withdrawn.isSet { fetch.withdraw() }
        if photo.cancelled.isSet || isCancelled { fetch.cancel() }
    }

    override func cancel() {
        super.cancel()
        progress.withLock { $0.fetch }?.cancel()
    }

    /// Ends it unless the download has begun; the photo says that it is withdrawn by now.
    func withdraw() { progress.withLock { $0.fetch }?.withdraw() }

    /// Changes when it is its turn, unless the download has begun.
    func reorder(_ urgency: Urgency) {
        queuePriority = urgency.priority.ofQueue
        let order = Self.order(photo, urgency)
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

    private static func order(_ photo: PhotoInProgress, _ urgency: Urgency) -> TransferOrder {
        TransferOrder(
            priority: urgency.priority.rank, isFirst: urgency.isInFocus, group: photo.operation.batch.description)
    }

    private func end(_ result: Result<Download, TransferError>) {
        if case .success(let download) = result { progress.withLock { $0.image = download } }
        onEnd(photo, result)
        finish()
    }
}

extension Priority {
    /// The priority of local operations of a batch.
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
