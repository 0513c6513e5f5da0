import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// A source whose transfers have finished and cannot be stopped. The test ends the downloads.
private final class FinishedSource: PhotoSource {
    struct Fetch: PhotoFetch {
        func stop(_ level: CancellationToken.Level) {}
        func reorder(_ order: TransferOrder) {}
    }

    let download = Locked<ImageDownloader?>(nil)
    let began = DispatchSemaphore(value: 0)

    func fetch(for download: ImageDownloader) {
        download.begin { _ in Fetch() }
        self.download.withLock { $0 = download }
        began.signal()
    }
}

@Suite struct PendingOperationsTests {
    @Test func bytesOfAPhotoThatIsCancelledDuringTheLastStepOfItsDownloadAreFreed() throws {
        let photo = try RunningPhoto.example()
        let source = FinishedSource()
        let pending = PendingOperations(filtrations: 1, source: source)
        let ended = Latch()
        pending.download(
            photo, Urgency(priority: .normal, isInFocus: false), TransferSteps(), ended: { _ in ended.set() })
        #expect(source.began.wait(timeout: .now() + 20) == .success)
        photo.cancellation.cancel()
        source.download.withLock { $0 }?.end(.success(Download(found: [1, 2, 3], duration: .zero)))
        #expect(ended.isSet && pending.takeImage(of: photo.task) == nil)
    }
}
