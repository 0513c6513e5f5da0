internal import CSystem
import DarkroomConcurrency
import Foundation

/// A thread with the file permissions of a helper process (Landlock). The other threads of the process are not
/// confined.
package enum ConfinedThread {
    /// Runs `body` on a confined thread and waits for it.
    /// - Returns: the result of `body`, or nil if the system did not confine the thread.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let result = Locked<Value?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread {
            if csystem_confine_files() == 0 {
                let value = body()
                result.withLock { $0 = value }
            }
            ended.signal()
        }.start()
        ended.wait()
        return result.withLock { $0 }
    }
}
