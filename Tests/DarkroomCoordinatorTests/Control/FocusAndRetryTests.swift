import DarkroomFiles
import DarkroomModel
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

/// Photos in focus, and retries of failed photos.
@Suite(.redisServer) struct FocusAndRetryTests {
    let fixture: ControlFixture
    var control: BatchController { fixture.control }

    init() throws { fixture = try ControlFixture() }

    @Test func photosInFocusAreClaimedFirst() throws {
        let id = try fixture.submit(1, photos: 500)
        #expect(try control.focus(id, 415...424, only: true) == FocusSet(fed: 10, isSealed: true, isNew: true))
        #expect(try !control.focus(id, 415...424, only: true).isNew)
        #expect(try fixture.facts(id).controls.focus == BatchControls.Focus(415...424, only: true))
        #expect(try fixture.claim().map(\.held.number) == [42, 43])
        #expect(try fixture.claim(2).isEmpty)
        #expect(try control.clearFocus(id))
        #expect(try !control.clearFocus(id))
        #expect(try fixture.claim(3).first?.held.number == 1)
    }

    @Test func focusReturnsHowManyOfItsPhotosAreFed() throws {
        let open = try fixture.submit(1, photos: 50, seal: false)
        #expect(try control.focus(open, 45...60, only: false) == FocusSet(fed: 5, isSealed: false, isNew: true))
        #expect(try control.focus(open, 100...200, only: false) == FocusSet(fed: 0, isSealed: false, isNew: true))
        let sealed = try fixture.submit(2, photos: 50)
        #expect(try control.focus(sealed, 49...Int.max, only: false).fed == 1)
        #expect(refusal { _ = try control.focus(sealed, 50...60, only: false) }?.code == .outsideList)
        #expect(refusal { _ = try control.focus(sealed, -5...4, only: false) }?.code == .outsideList)
        #expect(refusal { _ = try control.focus(BatchID("gone"), 0...1, only: false) }?.code == .batchGone)
    }

    @Test func failedPhotosAreRetried() throws {
        let id = try fixture.submit(1, photos: 3000) { $0.operationSize = 100 }
        try fixture.develop("FgjFi")
        #expect(try fixture.facts(id).state == .finished)
        #expect(try control.retry(id, reasons: [.timeout, .httpServerError]) == RetriedPhotos(photos: 1200))
        var facts = try fixture.facts(id)
        #expect(facts.state == .ready && facts.round == 2)
        #expect(facts.counts.new == 1200 && facts.counts.failed == 600)
        #expect(facts.failures.filter { $0.value > 0 } == [.httpClientError: 600])
        // All operations are queued again. A retry takes only photos of ended operations, so it finds none.
        #expect(try control.retry(id) == RetriedPhotos())
        try fixture.develop("F", worker: "another")
        #expect(try fixture.facts(id).state == .finished)
        #expect(try control.retry(id) == RetriedPhotos(photos: 600))
        try fixture.develop("F", worker: "third")
        facts = try fixture.facts(id)
        #expect(facts.state == .finished && facts.counts.filtered == 3000 && facts.counts.failed == 0)
    }

    @Test func retryReportsPhotosThatItCannotRun() throws {
        let cancelled = try fixture.submit(1)
        _ = try control.cancel(cancelled)
        let refused = refusal { _ = try control.retry(cancelled) }
        #expect(refused?.code == .cancelled && refused?.remedies == [.submitAgainOverwriting])
        #expect(refusal { _ = try control.retry(BatchID("gone")) }?.code == .batchGone)

        let id = try fixture.submit(2)
        try fixture.develop("i")
        // Redis keeps the entries of only the first 10,000 operations with failed photos.
        _ = try fixture.store.connection.call(.init("DEL", fixture.store.keys.operations(id)))
        #expect(try control.retry(id) == RetriedPhotos(photos: 0, notKept: 10))
    }

    /// `manifest/holder.txt` names the holder, so the retry is refused even if the other batch is no longer in Redis.
    @Test func retryIsRefusedWhenAnotherBatchHoldsTheFolder() throws {
        let scratch = try ScratchFolder()
        let folder = OutputFolder(path: scratch.path("output"))
        let id = try fixture.submit(1) { $0.output = folder.path }
        let other = ControlFixture.id(2)
        for batch in [id, other] { try folder.reserve(for: batch, origin: nil) }
        let taken = try fixture.facts(id).outputTaken
        func take(_ number: Int) throws {
            let holder = FolderHolder(owner: other.description, number: number)
            #expect(try holder.take(ManifestPath.holder, in: Folder(trusted: folder.path)) == nil)
        }
        try take(taken - 1)  // before this batch took the folder
        try fixture.develop("i")
        #expect(try control.retry(id) == RetriedPhotos(photos: 10))
        try fixture.develop("i", worker: "another")
        try take(taken + 1)
        #expect(refusal { _ = try control.retry(id) }?.code == .outputTaken)
        #expect(try fixture.facts(id).counts.failed == 10)
        #expect(try control.retry(id, overwrite: true) == RetriedPhotos(photos: 10))
    }
}
