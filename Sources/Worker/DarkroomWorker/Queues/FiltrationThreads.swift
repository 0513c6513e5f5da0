import DarkroomConcurrency
import DarkroomImaging
import DarkroomLogging
import DarkroomText
import Foundation

/// The threads that decode, filter, encode and write photos if filtrations have another CPU priority than the process.
///
/// DESIGN. As with `Operation.threadPriority`, the priority becomes the nice value of a thread. The threads of the
/// operation queue must not have this value, because the system also uses them for other work, and threads that they
/// start, for example for downloads, would inherit the value. A process without privileges cannot lower a nice value
/// again. Therefore this class has its own threads for filtrations; only image libraries start further threads from
/// them. The thread of the queue waits while one of these threads works. With the priority 0.5, this class starts no
/// threads, and the threads of the queue do the work.
final class FiltrationThreads: Sendable {
    private let pool: ThreadPool?
    private static let process = __priority_which_t(PRIO_PROCESS.rawValue)

    /// Creates threads with a priority from 0.0 (only if no other thread needs the CPU) to 1.0 (before all others).
    /// - Parameter logger: receives one warning if the system refuses the priority.
    init(priority: Double, logger: Logger) {
        guard priority != 0.5 else {
            pool = nil
            return
        }
        let isRefused = Locked(false)
        pool = ThreadPool(
            "darkroom-filter", maxThreads: .max,
            threadBegan: {
                // On Linux a nice value belongs to a thread, and the id 0 means the calling thread. The thread has
                // inherited the value of the queue's thread.
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

    /// Runs `work` on a thread with the priority, and waits for the result.
    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value {
        guard let pool else { return work() }
        let result = Locked<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        // Each job has a caller that waits for the result, so no jobs are left when the pool is freed.
        pool.perform {
            let value = work()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("signalled after the result is there") }
        return value
    }

    /// The nice value of a priority: 19 for 0.0, `own` for 0.5, -20 for 1.0, linear between them.
    static func niceness(of priority: Double, from own: Int32) -> Int32 {
        let furthest: Double = priority < 0.5 ? 19 : -20
        let share = min(1, abs(priority - 0.5) * 2)
        return Int32((Double(own) + (furthest - Double(own)) * share).rounded())
    }
}
