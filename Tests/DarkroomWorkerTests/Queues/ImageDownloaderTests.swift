import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomStore
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// A fetch that never delivers bytes. It ends only when it is stopped.
private struct SilentFetch: PhotoFetch {
    let completion: FetchCompletion

    func stop(_ level: CancellationToken.Level) {
        guard level > .none else { return }
        completion(.failure(TransferError(code: .cancelled, detail: "withdrawn")))
    }
    func reorder(_ order: TransferOrder) {}
}

extension RunningPhoto {
    init(
        _ record: PhotoRecord, of held: HeldOperation? = nil, _ context: BatchContext
    ) throws {
        let held = held ?? HeldOperation(batch: context.id, number: 1, fencingToken: 1)
        let claimed = ClaimedOperation(held: held, stateCodes: [], leaseExpiries: 0, entry: [])
        self.init(
            task: PhotoTask(record, of: held, isStored: false, isQuarantined: false), context: context,
            sink: try context.storage.take().begin(claimed, [], worker: "worker"))
    }

    static func example() throws -> RunningPhoto {
        let record = PhotoRecord(index: 0, name: "0", url: "http://photos.example/0")
        return try RunningPhoto(record, try BatchContext(BatchID("batch"), BatchOptions(), PhotoWorkerConfiguration()))
    }
}

@Suite struct ImageDownloaderTests {
    /// The worker state starts a photo, and then its download is queued. A user may suspend the batch between these
    /// steps.
    @Test func endsAtOnceIfThePhotoIsWithdrawnBeforeTheDownloadStarts() throws {
        let photo = try RunningPhoto.example()
        photo.cancellation.withdraw()
        let ended = DispatchSemaphore(value: 0)
        let downloader = ImageDownloader(
            photo, urgency: Urgency(priority: .normal, isInFocus: false), steps: TransferSteps(),
            fetch: { request, completion in request.begin { _ in SilentFetch(completion: completion) } }
        ) { result in
            if case .failure(let error) = result, error.code == .cancelled { ended.signal() }
        }
        let queue = OperationQueue()
        queue.addOperation(downloader)
        #expect(ended.wait(timeout: .now() + 20) == .success, "the downloader waits for the bytes of a withdrawn photo")
    }
}
