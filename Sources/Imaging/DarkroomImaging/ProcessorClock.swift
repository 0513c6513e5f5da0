internal import DarkroomConcurrency
internal import Glibc

/// Adds up the CPU time of all threads of a job that call ``check()``.
///
/// The CPU time of a thread is counted from its first call to ``check()``. Therefore every thread makes this call
/// before its first step. For the thread that starts the job, creating the clock has the same effect.
package final class ProcessorClock: Sendable {
    private struct Account {
        var limit: Duration
        var spent = Duration.zero
        /// The CPU time of each thread at its last call.
        var threads: [pthread_t: Duration] = [:]
        var isExhausted = false
    }

    private let account: Locked<Account>

    /// Creates a clock for a job that the calling thread starts now.
    package init(limit: Duration) {
        account = Locked(Account(limit: limit, threads: [pthread_self(): Self.timeOfThread()]))
    }

    /// Raises the limit. A lower limit than before has no effect.
    package func extend(to limit: Duration) { account.withLock { $0.limit = max($0.limit, limit) } }

    /// Adds the CPU time that the calling thread has used since its last call.
    /// - Returns: true if the job has exceeded the limit.
    package func check() -> Bool {
        let now = Self.timeOfThread()
        return account.withLock { account in
            // A new thread may have the id of an ended thread. In this case, the CPU time of the new thread is smaller
            // than `last`.
            let last = account.threads.updateValue(now, forKey: pthread_self()) ?? now
            account.spent += max(.zero, now - last)
            account.isExhausted = account.isExhausted || account.spent > account.limit
            return account.isExhausted
        }
    }

    /// The CPU time up to the last call of ``check()`` in each thread.
    package var spent: Duration { account.withLock { $0.spent } }

    package var isExhausted: Bool { account.withLock { $0.isExhausted } }

    /// The error text for a job that has exceeded the limit.
    package var problem: String {
        let limit = account.withLock { $0.limit }
        return "took more than \(limit.components.seconds) s of processor time"
    }

    private static func timeOfThread() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
