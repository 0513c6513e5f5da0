import Testing

@testable import DarkroomCoordinator

/// Tests, without a Redis server, when the coordinator reports that Redis has no memory left.
@Suite struct MemoryWatchTests {
    /// A `MemoryWatch` whose events have times in seconds.
    private final class Watch {
        private var watch = MemoryWatch()
        private let start = ContinuousClock.now

        func refused(_ seconds: Double) -> MemoryWatch.Action? { watch.refused(at(seconds)) }
        func accepted(_ seconds: Double) -> Bool { watch.accepted(at(seconds)) }
        func foundNoWork() -> Bool { watch.foundNoWork() }
        private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .milliseconds(Int(seconds * 1000)) }
    }

    @Test func reportsOnceWhileSingleOperationsAreAccepted() {
        let watch = Watch()
        #expect(!watch.accepted(0))
        #expect(watch.refused(1) == .reportFull)
        for tenth in 11..<100 {
            #expect(watch.refused(Double(tenth) / 10) == nil)
            #expect(!watch.accepted(Double(tenth) / 10 + 0.05))
        }
    }

    @Test func reportsTheEndWhenNothingWasRefusedForTwoSeconds() {
        let watch = Watch()
        #expect(watch.refused(1) == .reportFull)
        #expect(!watch.accepted(2.9))
        #expect(watch.accepted(3))
        #expect(!watch.accepted(4))
        #expect(watch.refused(5) == .reportFull)
    }

    @Test func checksForWorkEveryTenSecondsUntilItHasReportedThatThereIsNone() {
        let watch = Watch()
        #expect(watch.refused(0) == .reportFull)
        #expect(watch.refused(9.9) == nil)
        #expect(watch.refused(10) == .checkForWork)
        #expect(watch.refused(10.1) == nil)
        #expect(watch.refused(20) == .checkForWork)
        #expect(watch.foundNoWork())
        #expect(!watch.foundNoWork())
        #expect(watch.refused(40) == nil)
        #expect(watch.accepted(43))
        #expect(watch.refused(44) == .reportFull)
        #expect(watch.refused(54) == .checkForWork && watch.foundNoWork())
    }
}
