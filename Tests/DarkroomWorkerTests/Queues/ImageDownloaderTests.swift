import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomWorker

/// A source whose bytes never come: what is on its way ends when it is stopped, and not before.
private struct SilentSource: PhotoSource {
    struct Fetch: PhotoFetch {
        let completion: @Sendable (Result<Download, TransferError>) -> Void

        func cancel() { withdraw() }
        func withdraw() { completion(.failure(TransferError(code: .cancelled, detail: "withdrawn", attempts: 0))) }
        func reorder(_ order: TransferOrder) {}
    }

    func fetch(
        _ photo: PhotoInProgress, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)? {
        Fetch(completion: completion)
    }
}

@Suite struct ImageDownloaderTests {
    /// A suspension may come when a photo has begun in the ledger and is on its way to the queue.
    @Test func photoThatIsTakenBackBeforeItsDownloaderIsThereWaitsForNoBytes() throws {
        let context = try BatchContext(BatchID("batch"), BatchOptions(), WorkerConfiguration())
        let photo = PhotoInProgress(
            PhotoRecord(index: 0, name: "0", url: "http://photos.example/0"),
            of: HeldOperation(batch: BatchID("batch"), number: 1, fencingToken: 1), context)
        photo.withdrawn.set()
        let ended = DispatchSemaphore(value: 0)
        let downloader = ImageDownloader(
            photo, source: SilentSource(), urgency: Urgency(priority: .normal, isInFocus: false),
            mayBegin: { _ in true }, waits: { _ in }
        ) { _, result in
            if case .failure(let error) = result, error.code == .cancelled { ended.signal() }
        }
        let queue = OperationQueue()
        queue.addOperation(downloader)
        #expect(ended.wait(timeout: .now() + 20) == .success, "it waits for bytes that nobody wants")
    }
}
