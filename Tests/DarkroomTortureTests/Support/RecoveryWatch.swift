import Darkroom
import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore

/// Measures how long operations of dead workers stay with them, and how long until another worker has claimed them, which also takes one
/// with room; by asking Redis every 20 ms.
final class RecoveryWatch: Sendable {
    private struct Awaited {
        let held: HeldOperation
        let since: ContinuousClock.Instant
        var isFree = false
    }

    /// What was measured, by operation.
    struct Recovery {
        /// From the death until the operation was nobody's, or another's.
        var freed = Distribution()
        /// From the death until it was another's.
        var claimed = Distribution()
    }

    private struct State {
        var awaited: [Awaited] = []
        var recovered = Recovery()
        var failure: (any Error)?
    }

    private let state = Locked(State())
    private let cluster: TortureCluster
    private let ended = Latch()
    private let wake = Signal()
    private let thread: Locked<OwnedThread?> = Locked(nil)

    /// Begins to watch; `stop()` it.
    init(_ cluster: TortureCluster) {
        self.cluster = cluster
        let thread = OwnedThread("recovery-watch") { [self] in
            while !ended.isSet {
                look()
                wake.wait(timeout: .milliseconds(20))
            }
        }
        self.thread.withLock { $0 = thread }
    }

    /// The worker that held these operations died at `since`.
    func expect(_ operations: [HeldOperation], since: ContinuousClock.Instant) {
        state.withLock { $0.awaited += operations.map { Awaited(held: $0, since: since) } }
    }

    /// Waits until all that is expected was claimed, and ends.
    /// - Parameter patience: how long none may be claimed meanwhile. Claiming takes room, and whoever has it may be busy with
    ///   operations that run photo by photo.
    func finish(patience: Duration) throws -> Recovery {
        defer { stop() }
        var (fewest, deadline) = (Int.max, ContinuousClock.now)
        while true {
            let (left, failure) = state.withLock { ($0.awaited.count, $0.failure) }
            if let failure { throw failure }
            if left == 0 { return state.withLock { $0.recovered } }
            if left < fewest { (fewest, deadline) = (left, .now + patience) }
            guard .now < deadline else {
                throw TortureFailure("\(left) operations of dead workers are left, none was claimed for \(patience)")
            }
            wake.wait(timeout: .milliseconds(20))
        }
    }

    /// Ends the watch.
    func stop() {
        ended.set()
        wake.raise()
        thread.withLock { $0 }?.join()
    }

    private func look() {
        let awaited = state.withLock { $0.awaited }
        do {
            let holders = try cluster.holders(of: awaited.map(\.held))
            let now = ContinuousClock.now
            state.withLock { state in
                for (awaited, holder) in zip(awaited, holders) where holder != awaited.held.fencingToken {
                    guard let place = state.awaited.firstIndex(where: { $0.held == awaited.held }) else { continue }
                    if !awaited.isFree { state.recovered.freed.add(now - awaited.since) }
                    state.awaited[place].isFree = true
                    guard holder != nil else { continue }
                    state.recovered.claimed.add(now - awaited.since)
                    state.awaited.remove(at: place)
                }
            }
        } catch {
            if let error = error as? RedisError, error.isPassing { return }
            state.withLock { $0.failure = error }
        }
    }
}
