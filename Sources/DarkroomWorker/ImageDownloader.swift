import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import Foundation

/// How a filtration takes the image from the operation that it depends on.
protocol ImageDataProvider: AnyObject {
    /// Takes the downloaded bytes out; nil when there are none (any more).
    func takeImage() -> Download?
}

/// Downloads one photo; holds a place in the download queue while the transfer runs, but no thread.
final class ImageDownloader: AsynchronousOperation, ImageDataProvider, @unchecked Sendable {
    // everything that changes is behind a lock
    private let photo: PhotoInProgress
    private let engine: TransferEngine
    private let originals: Originals
    private let transfer = Locked<Transfer?>(nil)
    private let image = Locked<Download?>(nil)
    private let onEnd: @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void

    /// - Parameter onEnd: what came of the transfer, called before the operation is finished, never twice.
    init(
        _ photo: PhotoInProgress, engine: TransferEngine, originals: Originals,
        onEnd: @escaping @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void
    ) {
        self.photo = photo
        self.engine = engine
        self.originals = originals
        self.onEnd = onEnd
        super.init()
        qualityOfService = .userInitiated
        queuePriority = .normal
    }

    override func begin() {
        guard !photo.cancelled.isSet, !isCancelled else {
            end(.failure(TransferError(code: .cancelled, detail: "cancelled before it began", attempts: 0)))
            return
        }
        if let problem = PhotoURL.check(photo.record.url) {
            let code: TransferError.Code = problem.reason == .schemeDenied ? .schemeDenied : .notAURL
            end(.failure(TransferError(code: code, detail: problem.detail, attempts: 0)))
            return
        }
        originals.find(photo) { [self] found in
            if let found { end(found) } else { download() }
        }
    }

    private func download() {
        let started = engine.start(photo.record.url) { [self] result in
            originals.keep(photo, result) { [self] result in end(result) }
        }
        transfer.withLock { $0 = started }
        // The flag may have been set between the check above and the line before.
        if photo.cancelled.isSet || isCancelled { started.cancel() }
    }

    override func cancel() {
        super.cancel()
        transfer.withLock { $0 }?.cancel()
    }

    func takeImage() -> Download? {
        image.withLock { image in
            defer { image = nil }
            return image
        }
    }

    private func end(_ result: Result<Download, TransferError>) {
        if case .success(let download) = result { image.withLock { $0 = download } }
        onEnd(photo, result)
        finish()
    }
}
