import DarkroomConcurrency
import DarkroomStore

/// The running file system calls. If a call hangs, for example on a share whose server is unreachable, another worker must be
/// able to take its operation.
///
/// So the worker stops renewing the lease of the operation, and another worker claims it. If the call returns later, Redis refuses
/// the report of this worker, as after any lost lease.
package final class FileCalls: Sendable {
    package struct Hanging: Equatable {
        package var operations: Set<HeldOperation> = []
        /// True if this worker can finish no operation until the calls return: it cannot report, or no filtration is free.
        package var isAll = false
    }

    private struct Call {
        /// The operation of the call; nil if all operations wait for the call.
        let operation: HeldOperation?
        /// Whether the operation is preparing: no filtration waits for the call.
        let isOfClaim: Bool
        let began: ContinuousClock.Instant
    }

    private let patience: Duration
    private let claimPatience: Duration
    private let calls = Locked((last: 0, running: [Int: Call]()))

    /// - Parameters:
    ///   - patience: A call that runs for longer hangs.
    ///   - claimPatience: A claimed operation that is still preparing after this time hangs.
    package init(patience: Duration, claimPatience: Duration) {
        self.patience = patience
        self.claimPatience = min(patience, claimPatience)
    }

    /// Runs `body`, which calls the file system for an operation, or for all operations if `operation` is nil.
    package func run<Value, Failure: Error>(
        for operation: HeldOperation?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let number = begin(for: operation, isOfClaim: false)
        defer { end(number) }
        return try body()
    }

    /// Notes that the worker prepares a claimed operation.
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

    /// Returns the operations whose calls hang at `now`.
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
