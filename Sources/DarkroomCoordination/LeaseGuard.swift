import Foundation

/// Blocks a worker that stood still until it knows its leases.
///
/// A worker that stood still, because its process was stopped or its machine slept, goes on in the middle of its work, with
/// operations that have long been another worker's. So before a file gets its final name or a manifest is written, the worker must
/// have asked Redis within the lease. A heartbeat that failed is enough: while Redis is away, no lease expires.
final class LeaseGuard: @unchecked Sendable {  // `lastAsked` and `isOver` are only touched while `condition` is locked
    private let condition = NSCondition()
    private var lastAsked = ContinuousClock.now
    private var isOver = false

    /// A heartbeat that began at `moment` was answered, or failed.
    func asked(at moment: ContinuousClock.Instant) {
        condition.lock()
        lastAsked = moment
        condition.broadcast()
        condition.unlock()
    }

    /// No more heartbeats are sent, and nobody is blocked any more.
    func end() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }

    /// If the last heartbeat is as long ago as `lease`, calls `ask` and blocks until the next heartbeat.
    func wait(lease: Duration, ask: () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        let began = ContinuousClock.now
        guard began - lastAsked >= lease, !isOver else { return }
        ask()
        while lastAsked < began, !isOver { condition.wait() }
    }
}
