import DarkroomConcurrency
import DarkroomModel

/// The running file system calls of a worker.
///
/// If a call hangs, for example on a share whose server is unreachable, the worker stops renewing the lease of the
/// operation, so that another worker can claim it. If the call returns later, Redis refuses this worker's report, as it
/// does after every lost lease.
package final class FileCalls: Sendable {
    package struct Hanging: Equatable {
        package var operations: Set<HeldOperation> = []
        /// True if no operation can finish before the calls return, because the reports, all downloads or all
        /// filtrations wait for these calls.
        package var isAll = false
    }

    /// The work that waits for a call.
    package enum Work { case claim, download, filtration }

    private struct Call {
        /// The operation of the call; nil if all operations wait for the call.
        let operation: HeldOperation?
        let work: Work
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
        let number = begin(.filtration, of: operation)
        defer { end(number) }
        return try body()
    }

    /// Records the beginning of a call for an operation, or for all operations if `operation` is nil.
    /// - Returns: the argument for ``end(_:)``.
    package func begin(_ work: Work, of operation: HeldOperation?) -> Int {
        calls.withLock { calls in
            calls.last += 1
            calls.running[calls.last] = Call(operation: operation, work: work, began: .now)
            return calls.last
        }
    }

    package func end(_ number: Int) { calls.withLock { $0.running[number] = nil } }

    /// Returns the operations with calls that hang at `now`.
    /// - Parameter limits: the numbers of concurrent downloads and filtrations.
    package func hanging(
        _ now: ContinuousClock.Instant, limits: (downloads: Int, filtrations: Int)
    ) -> Hanging {
        let late = calls.withLock { calls in
            calls.running.values.filter { now - $0.began > ($0.work == .claim ? claimPatience : patience) }
        }
        return Hanging(
            operations: Set(late.compactMap(\.operation)),
            isAll: late.contains { $0.operation == nil }
                || late.count { $0.work == .download } >= limits.downloads
                || late.count { $0.work == .filtration } >= limits.filtrations)
    }
}
