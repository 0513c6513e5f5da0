import Foundation

/// Wakes one waiting thread. Raised while nobody waits, it lets the next wait return at once; raised twice, it counts once.
public final class Signal: @unchecked Sendable {  // `raised` is only touched while `condition` is locked
    private let condition = NSCondition()
    private var raised = false

    /// A signal that is not raised.
    public init() {}

    /// Wakes who waits, or the next who will.
    public func raise() {
        condition.lock()
        raised = true
        condition.signal()
        condition.unlock()
    }

    /// Blocks until the signal is raised, and lowers it; `timeout` nil waits for ever.
    /// - Returns: false when the time passed first.
    @discardableResult
    public func wait(timeout: Duration? = nil) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let deadline = timeout.map { Date(timeIntervalSinceNow: $0 / .seconds(1)) }
        while !raised {
            if let deadline {
                if !condition.wait(until: deadline) { break }
            } else {
                condition.wait()
            }
        }
        defer { raised = false }
        return raised
    }
}
