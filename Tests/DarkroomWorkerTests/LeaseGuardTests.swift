import DarkroomConcurrency
import Foundation
import Testing

@testable import DarkroomCoordination
@testable import DarkroomWorker

/// Who is held back after a standstill, and until when.
@Suite(.timeLimit(.minutes(1))) struct LeaseGuardTests {
    private let hour = Duration.seconds(3600)

    @Test func whoLookedWithinTheLeaseIsNotHeldBack() {
        let leaseGuard = LeaseGuard()
        leaseGuard.wait(lease: hour) { Issue.record("the heart was told to look") }
        leaseGuard.asked(at: .now - hour / 2)
        leaseGuard.wait(lease: hour) { Issue.record("the heart was told to look") }
    }

    @Test func afterAStandstillALookThatBeganAfterItIsAwaited() {
        let leaseGuard = LeaseGuard()
        leaseGuard.asked(at: .now - hour)
        let (asked, isHeldBack) = (Signal(), Locked(true))
        let thread = OwnedThread("held-back") {
            leaseGuard.wait(lease: hour) { asked.raise() }
            isHeldBack.withLock { $0 = false }
        }
        #expect(asked.wait(timeout: .seconds(20)), "the heart was not told to look")
        // The answer to what was asked before the standstill says nothing.
        leaseGuard.asked(at: .now - hour / 2)
        #expect(isHeldBack.withLock { $0 })
        leaseGuard.asked(at: .now)
        thread.join()
        #expect(!isHeldBack.withLock { $0 })
    }

    @Test func nobodyIsHeldBackOnceTheHeartHasStopped() {
        let leaseGuard = LeaseGuard()
        leaseGuard.asked(at: .now - hour)
        let asked = Signal()
        let thread = OwnedThread("held-back") { leaseGuard.wait(lease: hour) { asked.raise() } }
        asked.wait(timeout: .seconds(20))
        leaseGuard.end()
        thread.join()
        leaseGuard.wait(lease: hour) { Issue.record("the heart was told to look") }
    }
}
