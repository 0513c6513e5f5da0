import Darkroom
import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore

/// Measures the time until the operations of a killed worker are queued again, and until another worker has claimed
/// them. It polls Redis every 20 ms.
final class RecoveryWatch: Sendable {
    private struct Awaited {
        let held: HeldOperation
        let since: ContinuousClock.Instant
        var isFree = false
    }

    /// The measured durations, one per operation.
    struct Recovery {
        /// From the kill until the operation was queued or claimed by another worker.
        var freed = Distribution()
        /// From the kill until another worker claimed the operation.
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

    /// Starts the watch. Must be stopped with `stop()`.
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

    /// Adds the operations of a worker that was killed at `since`.
    func expect(_ operations: [HeldOperation], since: ContinuousClock.Instant) {
        state.withLock { $0.awaited += operations.map { Awaited(held: $0, since: since) } }
    }

    /// Waits until all added operations have been claimed, and ends the watch.
    /// - Parameter patience: The maximum time between two claims of the operations; after it, the call throws.
    ///   Quarantined operations may occupy the workers, and a worker without room does not claim.
    func finish(patience: Duration) throws -> Recovery {
        defer { stop() }
        var (fewest, deadline) = (Int.max, ContinuousClock.now)
        while true {
            let (left, failure) = state.withLock { ($0.awaited.count, $0.failure) }
            if let failure { throw failure }
            if left == 0 { return state.withLock { $0.recovered } }
            if left < fewest { (fewest, deadline) = (left, .now + patience) }
            guard .now < deadline else {
                throw TortureFailure("\(left) operations of killed workers remain, no claim for \(patience)")
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
