import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomExecution
@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// A source that never delivers bytes. A fetch ends only when it is stopped.
private struct SilentSource: PhotoSource {
    struct Fetch: PhotoFetch {
        let completion: @Sendable (Result<Download, TransferError>) -> Void

        func stop(_ level: CancellationToken.Level) {
            guard level > .none else { return }
            completion(.failure(TransferError(code: .cancelled, detail: "withdrawn", attempts: 0)))
        }
        func reorder(_ order: TransferOrder) {}
    }

    func fetch(
        _ photo: PhotoTask, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)? {
        Fetch(completion: completion)
    }
}

@Suite struct ImageDownloaderTests {
    /// The worker state starts a photo, and then its download is queued. A user may suspend the batch between these
    /// steps.
    @Test func endsAtOnceIfThePhotoIsWithdrawnBeforeTheDownloadStarts() throws {
        let context = try BatchContext(BatchID("batch"), BatchOptions(), WorkerConfiguration())
        let photo = PhotoTask(
            PhotoRecord(index: 0, name: "0", url: "http://photos.example/0"),
            of: HeldOperation(batch: BatchID("batch"), number: 1, fencingToken: 1), OperationFiles(context),
            isStored: false,
            isQuarantined: false)
        photo.cancellation.withdraw()
        let ended = DispatchSemaphore(value: 0)
        let downloader = ImageDownloader(
            photo, source: SilentSource(), urgency: Urgency(priority: .normal, isInFocus: false),
            mayBegin: { _ in true }, waits: { _ in }
        ) { _, result in
            if case .failure(let error) = result, error.code == .cancelled { ended.signal() }
        }
        let queue = OperationQueue()
        queue.addOperation(downloader)
        #expect(ended.wait(timeout: .now() + 20) == .success, "the downloader waits for the bytes of a withdrawn photo")
    }
}
