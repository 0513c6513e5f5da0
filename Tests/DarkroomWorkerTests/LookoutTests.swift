import DarkroomConcurrency
import Foundation
import Testing

@testable import DarkroomWorker

/// Who is held back after a standstill, and until when.
@Suite(.timeLimit(.minutes(1))) struct LookoutTests {
    private let hour = Duration.seconds(3600)

    @Test func whoLookedWithinTheLeaseIsNotHeldBack() {
        let lookout = Lookout()
        lookout.wait(lease: hour) { Issue.record("the heart was told to look") }
        lookout.look(began: .now - hour / 2)
        lookout.wait(lease: hour) { Issue.record("the heart was told to look") }
    }

    @Test func afterAStandstillALookThatBeganAfterItIsAwaited() {
        let lookout = Lookout()
        lookout.look(began: .now - hour)
        let (asked, isHeldBack) = (Signal(), Locked(true))
        let thread = OwnedThread("held-back") {
            lookout.wait(lease: hour) { asked.raise() }
            isHeldBack.withLock { $0 = false }
        }
        #expect(asked.wait(timeout: .seconds(20)), "the heart was not told to look")
        // The answer to what was asked before the standstill says nothing.
        lookout.look(began: .now - hour / 2)
        #expect(isHeldBack.withLock { $0 })
        lookout.look(began: .now)
        thread.join()
        #expect(!isHeldBack.withLock { $0 })
    }

    @Test func nobodyIsHeldBackOnceTheHeartHasStopped() {
        let lookout = Lookout()
        lookout.look(began: .now - hour)
        let asked = Signal()
        let thread = OwnedThread("held-back") { lookout.wait(lease: hour) { asked.raise() } }
        asked.wait(timeout: .seconds(20))
        lookout.end()
        thread.join()
        lookout.wait(lease: hour) { Issue.record("the heart was told to look") }
    }
}
