import Testing

@testable import DarkroomWorker

struct HeartTests {
    /// The connection tries again every 0.5 s at least (BackoffTests), and the scripts count 3 s of any pause (time.lua). Half
    /// a second is left for a machine that is busy.
    @Test(arguments: [6, 7, 15, 60]) func aPauseOfRedisCostsLessThanALease(seconds: Int) {
        let lease = Duration.seconds(seconds)
        let renewed = Heart.interval(shortestLease: lease)
        let back = Heart.retryInterval + .milliseconds(500)
        #expect(renewed + .seconds(3) + back + .milliseconds(500) < lease)
    }

    @Test func beatsEvery3SecondsWithTheUsualLeaseAndWithNothingInHand() {
        #expect(Heart.interval(shortestLease: nil) == .seconds(3))
        #expect(Heart.interval(shortestLease: .seconds(15)) == .seconds(3))
        #expect(Heart.interval(shortestLease: .seconds(600)) == .seconds(3))
    }
}
