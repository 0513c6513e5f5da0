import DarkroomConcurrency
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ThreadPoolTests {
    @Test func runsAsManyJobsAtOnceAsItHasThreads() {
        let pool = ThreadPool("pool", maxThreads: 3)
        let arrived = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        let running = Locked((now: 0, most: 0))
        for _ in 0..<10 {
            pool.perform {
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                arrived.signal()
                go.wait()
                running.withLock { $0.now -= 1 }
            }
        }
        for _ in 0..<3 {
            #expect(arrived.wait(timeout: .now() + 20) == .success, "a job waits although the pool has a free thread")
        }
        for _ in 0..<10 { go.signal() }
        for _ in 0..<7 { #expect(arrived.wait(timeout: .now() + 20) == .success) }
        #expect(running.withLock { $0.most } == 3)
    }

    @Test func wokenThreadTakesOneJobOnly() {
        let pool = ThreadPool("pool", maxThreads: .max)
        let first = DispatchSemaphore(value: 0)
        pool.perform { first.signal() }
        first.wait()
        // All of these jobs must run at the same time, even if the first thread is not idle yet.
        let meeting = Locked(0)
        let met = DispatchSemaphore(value: 0)
        let left = DispatchSemaphore(value: 0)
        for _ in 0..<8 {
            pool.perform {
                if meeting.withLock({
                    $0 += 1; return $0 == 8
                }) {
                    for _ in 0..<8 { met.signal() }
                }
                if met.wait(timeout: .now() + 20) == .success { left.signal() }
            }
        }
        for _ in 0..<8 { #expect(left.wait(timeout: .now() + 30) == .success) }
    }

    @Test func finishedJobIsReleased() {
        final class Held: Sendable {
            let released: DispatchSemaphore

            init(_ released: DispatchSemaphore) { self.released = released }

            deinit { released.signal() }
        }
        let pool = ThreadPool("pool", maxThreads: 1)
        let released = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            let held = Held(released)
            pool.perform { withExtendedLifetime(held) {} }
        }
        for _ in 0..<3 { #expect(released.wait(timeout: .now() + 20) == .success, "the pool keeps a finished job") }
        withExtendedLifetime(pool) {}
    }

    @Test func closedPoolDiscardsWaitingJobsAndEndsItsThreads() {
        let ended = DispatchSemaphore(value: 0)
        let pool = ThreadPool("pool", maxThreads: 1, threadEnds: { ended.signal() })
        let began = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        let late = Locked(0)
        pool.perform {
            began.signal()
            go.wait()
        }
        pool.perform { late.withLock { $0 += 1 } }
        began.wait()
        pool.close()
        pool.perform { late.withLock { $0 += 1 } }
        go.signal()
        #expect(ended.wait(timeout: .now() + 20) == .success)
        #expect(late.withLock { $0 } == 0)
    }
}
