import Foundation

/// After a standstill, blocks a worker until it has asked Redis for its leases.
///
/// If the worker's process was stopped or its machine slept, other workers may have taken over its operations by the time it
/// continues. So before a file gets its final name or a manifest is written, the worker must have asked Redis within the lease.
/// A failed heartbeat is enough: while Redis is unreachable, no lease expires.
final class LeaseGuard: @unchecked Sendable {  // `lastAsked` and `isOver` are only touched while `condition` is locked
    private let condition = NSCondition()
    private var lastAsked = ContinuousClock.now
    private var isOver = false

    /// Records that a heartbeat that began at `moment` was answered, or failed.
    func asked(at moment: ContinuousClock.Instant) {
        condition.lock()
        lastAsked = moment
        condition.broadcast()
        condition.unlock()
    }

    /// Ends the guard: no more heartbeats are sent, and ``wait(lease:ask:)`` no longer blocks.
    func end() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }

    /// If the last heartbeat began at least `lease` ago, calls `ask` and blocks until the next heartbeat.
    func wait(lease: Duration, ask: () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        let began = ContinuousClock.now
        guard began - lastAsked >= lease, !isOver else { return }
        ask()
        while lastAsked < began, !isOver { condition.wait() }
    }
}
