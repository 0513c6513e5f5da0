import DarkroomConcurrency
import DarkroomStore

/// The file system calls that run now. A call that does not return, as on a share whose server is gone, must not keep its
/// operation with this worker for ever.
///
/// The worker stops renewing the lease of such an operation, and another worker takes it. If the call returns later, the
/// report of this worker is refused, as after any lost lease.
package final class FileCalls: Sendable {
    /// What hangs.
    package struct Hanging: Equatable {
        package var operations: Set<HeldOperation> = []
        /// True if this worker can finish no operation meanwhile: it cannot report, or no filtration is free.
        package var isAll = false
    }

    private struct Call {
        /// Nil for calls that all operations wait for.
        let operation: HeldOperation?
        /// Whether the operation was claimed and nothing of it has begun: no filtration waits for the call.
        let isOfClaim: Bool
        let began: ContinuousClock.Instant
    }

    private let patience: Duration
    private let claimPatience: Duration
    private let calls = Locked((last: 0, running: [Int: Call]()))

    /// - Parameters:
    ///   - patience: A call that runs for longer hangs.
    ///   - claimPatience: An operation that was claimed and is not taken up after this time hangs.
    package init(patience: Duration, claimPatience: Duration) {
        self.patience = patience
        self.claimPatience = min(patience, claimPatience)
    }

    /// Runs `body`, which calls the file system for an operation, or for all when that is nil.
    package func run<Value, Failure: Error>(
        for operation: HeldOperation?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let number = begin(for: operation, isOfClaim: false)
        defer { end(number) }
        return try body()
    }

    /// Notes that an operation was claimed and is about to be taken up.
    /// - Returns: what ``end(_:)`` takes.
    package func beginClaim(of operation: HeldOperation) -> Int { begin(for: operation, isOfClaim: true) }

    private func begin(for operation: HeldOperation?, isOfClaim: Bool) -> Int {
        calls.withLock { calls in
            calls.last += 1
            calls.running[calls.last] = Call(operation: operation, isOfClaim: isOfClaim, began: .now)
            return calls.last
        }
    }

    /// Notes that a call has come back.
    package func end(_ number: Int) { calls.withLock { $0.running[number] = nil } }

    /// What hangs now.
    /// - Parameter filtrations: how many photos are filtered and written at once.
    package func hanging(_ now: ContinuousClock.Instant, filtrations: Int) -> Hanging {
        let late = calls.withLock { calls in
            calls.running.values.filter { now - $0.began > ($0.isOfClaim ? claimPatience : patience) }
        }
        let written = late.filter { !$0.isOfClaim }
        return Hanging(
            operations: Set(late.compactMap(\.operation)),
            isAll: written.contains { $0.operation == nil } || written.count >= filtrations)
    }
}
