import Testing

@testable import DarkroomRedis

struct BackoffTests {
    @Test func delaysBetweenAttemptsDoubleUpTo500Milliseconds() throws {
        var backoff = Backoff()
        let now = ContinuousClock.now
        #expect(!backoff.mustWait(at: now))
        for longest in [50, 100, 200, 400] + Array(repeating: 500, count: 100) {
            backoff.failed(at: now)
            let next = try #require(backoff.nextAttempt)
            #expect(now + .milliseconds(longest / 2) <= next && next <= now + .milliseconds(longest))
            #expect(backoff.mustWait(at: now) && !backoff.mustWait(at: next))
        }
        backoff.succeeded()
        #expect(!backoff.mustWait(at: now))
    }
}
