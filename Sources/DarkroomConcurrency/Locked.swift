import Foundation

/// A value behind a lock.
///
/// `Synchronization.Mutex` gives false reports under the thread sanitizer on Linux, `NSLock` does not.
package final class Locked<Value>: @unchecked Sendable {  // `value` is only touched while `lock` is held
    private let lock = NSLock()
    private var value: Value

    /// Puts `value` behind a lock of its own.
    package init(_ value: Value) { self.value = value }

    /// Runs `body` with the lock held; `body` must not block and must not take this lock again.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
