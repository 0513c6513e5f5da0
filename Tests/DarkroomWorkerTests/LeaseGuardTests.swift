import DarkroomConcurrency
import Foundation
import Testing

@testable import DarkroomWorker

/// Tests which threads the lease guard blocks after a suspension of the process, and for how long.
@Suite(.timeLimit(.minutes(5))) struct LeaseGuardTests {
    private let hour = Duration.seconds(3600)

    @Test func doesNotBlockWithinALeaseOfTheLastHeartbeat() {
        let leaseGuard = LeaseGuard()
        leaseGuard.wait(lease: hour) { Issue.record("the lease guard requested a heartbeat") }
        leaseGuard.asked(at: .now - hour / 2)
        leaseGuard.wait(lease: hour) { Issue.record("the lease guard requested a heartbeat") }
    }

    @Test func blocksUntilTheReplyToAHeartbeatSentAfterTheSuspension() {
        let leaseGuard = LeaseGuard()
        leaseGuard.asked(at: .now - hour)
        let (asked, isBlocked) = (Signal(), Locked(true))
        let thread = OwnedThread("blocked") {
            leaseGuard.wait(lease: hour) { asked.raise() }
            isBlocked.withLock { $0 = false }
        }
        #expect(asked.wait(timeout: .seconds(20)), "the lease guard did not request a heartbeat")
        // The reply to a heartbeat that was sent before the suspension does not release the thread.
        leaseGuard.asked(at: .now - hour / 2)
        #expect(isBlocked.withLock { $0 })
        leaseGuard.asked(at: .now)
        thread.join()
        #expect(!isBlocked.withLock { $0 })
    }

    @Test func releasesBlockedThreadsWhenTheHeartbeatLoopEnds() {
        let leaseGuard = LeaseGuard()
        leaseGuard.asked(at: .now - hour)
        let asked = Signal()
        let thread = OwnedThread("blocked") { leaseGuard.wait(lease: hour) { asked.raise() } }
        asked.wait(timeout: .seconds(20))
        leaseGuard.end()
        thread.join()
        leaseGuard.wait(lease: hour) { Issue.record("the lease guard requested a heartbeat") }
    }
}
