internal import CSystem
import DarkroomConcurrency
import Foundation

/// A thread that may touch files as a helper process may (Landlock), while the rest of the process goes on as before.
package enum ConfinedThread {
    /// Runs `body` on such a thread and waits for it.
    /// - Returns: what `body` returns; nil when the system did not confine the thread.
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
