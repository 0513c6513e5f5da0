import DarkroomConcurrency
import DarkroomStore

/// The running file system calls of a worker.
///
/// If a call hangs, for example on a share whose server is unreachable, the worker stops renewing the lease of the
/// operation, so that another worker can claim it. If the call returns later, Redis refuses this worker's report, as it
/// does after every lost lease.
package final class FileCalls: Sendable {
    package struct Hanging: Equatable {
        package var operations: Set<HeldOperation> = []
        /// True if no operation can finish before the calls return, because the reports or all filtrations wait for
        /// them.
        package var isAll = false
    }

    private struct Call {
        /// The operation of the call; nil if all operations wait for the call.
        let operation: HeldOperation?
        /// True if the call prepares a claimed operation. No filtration waits for such a call.
        let isOfClaim: Bool
        let began: ContinuousClock.Instant
    }

    private let patience: Duration
    private let claimPatience: Duration
    private let calls = Locked((last: 0, running: [Int: Call]()))

    /// - Parameters:
    ///   - patience: the time after which a running call counts as hanging.
    ///   - claimPatience: the time after which the preparation of a claimed operation counts as hanging.
    package init(patience: Duration, claimPatience: Duration) {
        self.patience = patience
        self.claimPatience = min(patience, claimPatience)
    }

    /// Runs `body`, which makes file system calls for an operation, or for all operations if `operation` is nil.
    package func run<Value, Failure: Error>(
        for operation: HeldOperation?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let number = begin(for: operation, isOfClaim: false)
        defer { end(number) }
        return try body()
    }

    /// Records that the worker is preparing a claimed operation.
    /// - Returns: the argument for ``end(_:)``.
    package func beginClaim(of operation: HeldOperation) -> Int { begin(for: operation, isOfClaim: true) }

    private func begin(for operation: HeldOperation?, isOfClaim: Bool) -> Int {
        calls.withLock { calls in
            calls.last += 1
            calls.running[calls.last] = Call(operation: operation, isOfClaim: isOfClaim, began: .now)
            return calls.last
        }
    }

    package func end(_ number: Int) { calls.withLock { $0.running[number] = nil } }

    /// Returns the operations with calls that hang at `now`.
    /// - Parameter filtrations: the number of concurrent filtrations.
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
