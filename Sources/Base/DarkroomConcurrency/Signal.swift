import Foundation

/// Wakes a waiting thread. If no thread is waiting, the next wait returns at once. Raising the signal twice has the
/// same effect as raising it once.
///
/// Waits use the monotonic clock, so that a change of the system time cannot delay a heartbeat. (The conditions of
/// Foundation use the system time.)
package final class Signal: @unchecked Sendable {  // `raised` is used only while `mutex` is locked
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var raised = false

    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Wakes the waiting thread; if there is none, the next wait returns at once.
    package func raise() {
        pthread_mutex_lock(mutex)
        raised = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks until the signal is raised, and then resets it. If `timeout` is nil, there is no time limit.
    /// - Returns: False if the timeout has passed.
    @discardableResult
    package func wait(timeout: Duration? = nil) -> Bool {
        var deadline = timeout.map(Self.deadline(after:))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !raised {
            if deadline != nil {
                guard pthread_cond_timedwait(condition, mutex, &deadline!) == 0 else { break }  // checked above
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
        defer { raised = false }
        return raised
    }

    private static func deadline(after timeout: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = timeout.components
        let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
        time.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
