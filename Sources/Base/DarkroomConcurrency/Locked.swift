import Foundation

/// A value protected by a lock.
///
/// The lock is an `NSLock`, because `Synchronization.Mutex` causes false reports of the thread sanitizer on Linux.
package final class Locked<Value>: @unchecked Sendable {  // `value` is used only while `lock` is held
    private let lock = NSLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    /// Runs `body` while the lock is held. `body` must not block, and must not take this lock again.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Replaces the value.
    /// - Returns: the replaced value.
    package func exchange(_ new: Value) -> Value {
        withLock { value in
            defer { value = new }
            return value
        }
    }
}
