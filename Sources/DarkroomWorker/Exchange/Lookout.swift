import Foundation

/// Knows when Redis was last asked what is still this worker's, and holds back who would act on older knowledge.
///
/// A worker that stood still (a stopped process, a machine that slept) comes back in the middle of what it did, with operations that
/// have long been another's. So before a file gets its final name or a manifest is written, the heart has looked within the lease;
/// looked in vain is as good, since no lease of a living worker runs out while Redis is away.
final class Lookout: @unchecked Sendable {  // what changes is only touched while `condition` is locked
    private let condition = NSCondition()
    private var looked = ContinuousClock.now
    private var isOver = false

    /// The heart has looked; it began to at `moment`.
    func look(began moment: ContinuousClock.Instant) {
        condition.lock()
        looked = moment
        condition.broadcast()
        condition.unlock()
    }

    /// Nobody looks any more, and nobody is held back.
    func end() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks where the last look is as long ago as `lease`, until the heart, which `ask` tells to, has looked again.
    func wait(lease: Duration, ask: () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        let began = ContinuousClock.now
        guard began - looked >= lease, !isOver else { return }
        ask()
        while looked < began, !isOver { condition.wait() }
    }
}
