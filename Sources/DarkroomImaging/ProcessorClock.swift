internal import DarkroomConcurrency
internal import Glibc

/// Adds up the processor time that threads take for one job, as far as they call ``check()``.
///
/// The time of a thread counts from its first call on. So the thread that begins the job makes a clock, and every other one calls
/// before its first step.
package final class ProcessorClock: Sendable {
    private struct Account {
        var limit: Duration
        var spent = Duration.zero
        /// The processor time of each thread at its last call.
        var threads: [pthread_t: Duration] = [:]
        var isExhausted = false
    }

    private let account: Locked<Account>

    /// A clock for a job that the calling thread begins now.
    package init(limit: Duration) {
        account = Locked(Account(limit: limit, threads: [pthread_self(): Self.timeOfThread()]))
    }

    /// Lets the job take more.
    package func extend(to limit: Duration) { account.withLock { $0.limit = limit } }

    /// Adds what the calling thread has taken since its last call.
    /// - Returns: true once the job has taken more than it may.
    package func check() -> Bool {
        let now = Self.timeOfThread()
        return account.withLock { account in
            // A thread may have got the id of one that has ended: its time is smaller then.
            let last = account.threads.updateValue(now, forKey: pthread_self()) ?? now
            account.spent += max(.zero, now - last)
            account.isExhausted = account.isExhausted || account.spent > account.limit
            return account.isExhausted
        }
    }

    /// Whether ``check()`` has said so.
    package var isExhausted: Bool { account.withLock { $0.isExhausted } }

    /// What to tell of a job that has taken more than it may.
    package var problem: String {
        let limit = account.withLock { $0.limit }
        return "took more than \(limit.components.seconds) s of processor time (--photo-timeout)"
    }

    private static func timeOfThread() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
