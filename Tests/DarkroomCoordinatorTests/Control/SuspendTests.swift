import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomCoordinator

/// Suspends batches and the cluster, and sets priorities and limits.
@Suite(.redisServer) struct SuspendTests {
    let fixture: ControlFixture
    var control: BatchController { fixture.control }

    init() throws { fixture = try ControlFixture() }

    @Test func resumeResumesAllParts() throws {
        let id = try fixture.submit(1)
        for part in QueuePart.allCases {
            #expect(try control.suspend(id, part))
            #expect(try !control.suspend(id, part), "suspending \(part) again was reported as a change")
        }
        let flags = try fixture.facts(id).controls
        #expect(flags.isSuspended && flags.areDownloadsSuspended && flags.areFiltrationsSuspended)
        #expect(try fixture.claim().isEmpty)
        #expect(try control.resume(id))
        #expect(try fixture.facts(id).controls == BatchControls())
        #expect(try !control.resume(id))
        #expect(try fixture.claim(2).count == 1)
    }

    @Test func partIsResumedAlone() throws {
        let id = try fixture.submit(1)
        _ = try control.suspend(id)
        _ = try control.suspend(id, .downloads)
        #expect(try control.resume(id, .downloads))
        #expect(try !control.resume(id, .filtrations))
        let flags = try fixture.facts(id).controls
        #expect(flags.isSuspended && !flags.areDownloadsSuspended)
    }

    @Test func clusterIsSuspendedAsAWhole() throws {
        try fixture.submit(1)
        #expect(try control.suspend(nil, .downloads))
        #expect(try control.suspend(nil))
        #expect(try !control.suspend(nil))
        var expected = ClusterControls()
        expected.isSuspended = true
        expected.areDownloadsSuspended = true
        #expect(try control.limits() == expected)
        #expect(try fixture.claim().isEmpty)
        #expect(try control.resume(nil))
        #expect(try !control.resume(nil))
        #expect(try control.limits() == ClusterControls())
        #expect(try fixture.claim(2).count == 1)
    }

    @Test func finishedBatchIsNotControlled() throws {
        let finished = try fixture.submit(1)
        try fixture.develop("F")
        let cancelled = try fixture.submit(2)
        _ = try control.cancel(cancelled)
        let gone = BatchID("gone")
        for (id, code) in [(finished, CoordinatorError.Code.finished), (cancelled, .cancelled), (gone, .batchGone)] {
            #expect(refusal { _ = try control.suspend(id) }?.code == code)
            #expect(refusal { _ = try control.resume(id) }?.code == code)
            #expect(refusal { _ = try control.prioritize(id, .high) }?.code == code)
            #expect(refusal { _ = try control.focus(id, 0...3, only: true) }?.code == code)
            #expect(refusal { try control.clearFocus(id) }?.code == code)
        }
    }

    @Test func higherPriorityIsClaimedFirst() throws {
        let first = try fixture.submit(1)
        let second = try fixture.submit(2)
        #expect(try control.prioritize(second, .veryHigh))
        #expect(try !control.prioritize(second, .veryHigh))
        #expect(try fixture.facts(second).controls.priority == .veryHigh)
        #expect(try fixture.claim().map(\.held.batch) == [second, first])
    }

    @Test func limitsApplyUntilTheyAreCleared() throws {
        try control.setLimits(downloads: 16, filtrations: nil)
        try control.setLimits(downloads: nil, filtrations: 256)
        var limits = try control.limits()
        #expect(limits.downloads == 16 && limits.filtrations == 256)
        for (downloads, filtrations) in [(0, nil), (1025, nil), (nil, 0), (nil, 257), (8, -1)] as [(Int?, Int?)] {
            let refused = refusal { try control.setLimits(downloads: downloads, filtrations: filtrations) }
            #expect(refused?.code == .outOfBounds)
        }
        limits = try control.limits()
        #expect(limits.downloads == 16 && limits.filtrations == 256)
        try control.clearLimits()
        #expect(try control.limits() == ClusterControls())
    }
}
