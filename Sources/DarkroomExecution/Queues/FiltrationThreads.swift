import DarkroomConcurrency
import DarkroomImaging
import DarkroomLogging
import DarkroomText
import Foundation

/// The threads that decode, filter, encode and write photos where these have another priority than the rest of the process.
///
/// DESIGN. An operation's priority becomes the nice value of its thread, as it did with `Operation.threadPriority`. The threads
/// of the operation queue cannot have one: the system shares them, a thread that one of them starts inherits the nice
/// value, downloads among them, and without privileges there is no way back. So these threads are started by nobody but
/// this, and start none but those of their pictures; the queue's thread waits while one of them works for it. With the
/// priority 0.5 there are none, and the queue's threads do the work.
package final class FiltrationThreads: Sendable {
    private let pool: ThreadPool?
    private static let process = __priority_which_t(PRIO_PROCESS.rawValue)

    /// Threads with the priority 0.0 (whenever nobody else wants the processor) to 1.0 (before everybody else).
    /// - Parameter logger: told once when the system does not allow the priority.
    package init(priority: Double, logger: Logger) {
        guard priority != 0.5 else {
            pool = nil
            return
        }
        let isRefused = Locked(false)
        pool = ThreadPool(
            "darkroom-filter", maxThreads: .max,
            threadBegan: {
                // On Linux a nice value belongs to a thread, and 0 means the one that asks; it has that of the queue's thread.
                let niceness = Self.niceness(of: priority, from: getpriority(Self.process, 0))
                guard setpriority(Self.process, 0, niceness) != 0 else { return }
                let problem = systemErrorText()
                let isFirst = isRefused.withLock { isRefused in
                    defer { isRefused = true }
                    return !isRefused
                }
                if isFirst {
                    logger.warning(
                        "thread priority refused, filtrations run as without it",
                        [
                            "priority": .text(priority), "niceness": .number(Int(niceness)),
                            "detail": .text("\(problem); above 0.5 it takes the capability SYS_NICE"),
                        ])
                }
            },
            threadEnds: { Imaging.threadShutdown() })
    }

    /// Does `work` with the threads' priority, and waits for it.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        guard let pool else { return work() }
        let result = Locked<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        // As many jobs run at once as there are callers, so none is left when the pool goes.
        pool.perform {
            let value = work()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("signalled after the result is there") }
        return value
    }

    /// The nice value of a priority: `own` at 0.5, 19 at 0.0, -20 at 1.0, and in proportion between them.
    static func niceness(of priority: Double, from own: Int32) -> Int32 {
        let furthest: Double = priority < 0.5 ? 19 : -20
        let share = min(1, abs(priority - 0.5) * 2)
        return Int32((Double(own) + (furthest - Double(own)) * share).rounded())
    }
}
