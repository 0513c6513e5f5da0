import DarkroomConcurrency
import DarkroomImaging
import DarkroomLogging
import DarkroomText
import Foundation

/// The threads that decode, filter, encode and write photos if filtrations have another priority than the rest of the process.
///
/// DESIGN. The priority becomes the nice value of the thread, as with `Operation.threadPriority`. The threads of the operation
/// queue cannot have a nice value of their own: the system shares them, the threads that they start (downloads, too) inherit
/// it, and a process without privileges cannot lower it again. So only this class starts filtration threads, and they start only
/// the threads of image libraries. The queue's thread waits while one of them does its work. With the priority 0.5 there are
/// no such threads, and the queue's threads do the work.
package final class FiltrationThreads: Sendable {
    private let pool: ThreadPool?
    private static let process = __priority_which_t(PRIO_PROCESS.rawValue)

    /// Threads with a priority from 0.0 (only if no other thread needs the processor) to 1.0 (before all other threads).
    /// - Parameter logger: gets one warning if the system refuses the priority.
    package init(priority: Double, logger: Logger) {
        guard priority != 0.5 else {
            pool = nil
            return
        }
        let isRefused = Locked(false)
        pool = ThreadPool(
            "darkroom-filter", maxThreads: .max,
            threadBegan: {
                // On Linux a nice value belongs to a thread, and 0 means the calling one; it has inherited that of the queue's
                // thread.
                let niceness = Self.niceness(of: priority, from: getpriority(Self.process, 0))
                guard setpriority(Self.process, 0, niceness) != 0 else { return }
                let problem = systemErrorText()
                if !isRefused.exchange(true) {
                    logger.warning(
                        "thread priority refused, filtrations run with the priority of the process",
                        [
                            "priority": .text(priority), "niceness": .number(Int(niceness)),
                            "detail": .text("\(problem); above 0.5 it requires the capability SYS_NICE"),
                        ])
                }
            },
            threadEnds: { Imaging.threadShutdown() })
    }

    /// Runs `work` with the threads' priority, and waits for the result.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        guard let pool else { return work() }
        let result = Locked<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        // Each job has a waiting caller, so none is left when the pool is freed.
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
