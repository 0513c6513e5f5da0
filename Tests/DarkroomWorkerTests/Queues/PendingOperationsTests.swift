import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomWorker
@testable import DarkroomWorkerState

@Suite struct PendingOperationsTests {
    @Test func bytesOfAPhotoThatIsCancelledDuringTheLastStepOfItsDownloadAreFreed() throws {
        let photo = try RunningPhoto.example()
        let pending = PendingOperations(filtrations: 1)
        let (began, ended) = (DispatchSemaphore(value: 0), Latch())
        let completion = Locked<FetchCompletion?>(nil)
        pending.download(photo, Urgency(priority: .normal, isInFocus: false), TransferSteps()) { _, found in
            // The fetch has finished and cannot be stopped.
            completion.withLock { $0 = found }
            began.signal()
        } ended: { _ in
            ended.set()
        }
        #expect(began.wait(timeout: .now() + 20) == .success)
        photo.cancellation.cancel()
        completion.withLock { $0 }?(.success(Download(found: [1, 2, 3], duration: .zero)))
        #expect(ended.isSet && pending.takeImage(of: photo.task) == nil)
    }
}
