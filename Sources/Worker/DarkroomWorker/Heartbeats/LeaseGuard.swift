import Foundation

/// After a pause of the process, blocks the worker until it has asked Redis which leases it still has.
///
/// If the worker's process was stopped or its machine slept, other workers may have claimed its operations during the
/// pause. Therefore the worker gives a file its final name, or writes a manifest, only if its last heartbeat was sent
/// less than one lease ago. A failed heartbeat also counts, because no lease expires while no worker reaches Redis.
final class LeaseGuard: @unchecked Sendable {  // `lastAsked` and `isOver` are only touched while `condition` is locked
    private let condition = NSCondition()
    private var lastAsked = ContinuousClock.now
    private var isOver = false

    /// Records that a heartbeat was answered or has failed; `moment` is the time at which the heartbeat was sent.
    func asked(at moment: ContinuousClock.Instant) {
        condition.lock()
        lastAsked = moment
        condition.broadcast()
        condition.unlock()
    }

    /// Ends the guard: no more heartbeats are sent, so ``wait(lease:ask:)`` no longer blocks.
    func end() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }

    /// If the last heartbeat was sent at least `lease` ago, calls `ask` and blocks until the next heartbeat.
    func wait(lease: Duration, ask: () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        let began = ContinuousClock.now
        guard began - lastAsked >= lease, !isOver else { return }
        ask()
        while lastAsked < began, !isOver { condition.wait() }
    }
}
