import DarkroomConcurrency
import DarkroomStore

/// The calls of the file system that run now: those that do not come back, as on a share whose server is gone, must not keep
/// operations with this worker for ever.
///
/// An operation with such a call is not renewed any more, so that its lease expires and another worker takes it. When the call comes
/// back, what it did is refused as that of any worker that has lost its lease.
final class FileCalls: Sendable {
    /// What hangs.
    struct Hanging: Equatable {
        var operations: Set<HeldOperation> = []
        /// True when nothing of this worker is finished while that lasts: nothing can be reported, or no filtration is free.
        var isAll = false
    }

    private struct Call {
        /// Nil for calls that all operations wait for.
        let operation: HeldOperation?
        let began: ContinuousClock.Instant
    }

    private let patience: Duration
    private let calls = Locked((last: 0, running: [Int: Call]()))

    /// - Parameter patience: A call that runs for longer hangs.
    init(patience: Duration) { self.patience = patience }

    /// Runs `body`, which calls the file system for an operation, or for all when that is nil.
    func run<Value, Failure: Error>(
        for operation: HeldOperation?, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let number = calls.withLock { calls in
            calls.last += 1
            calls.running[calls.last] = Call(operation: operation, began: .now)
            return calls.last
        }
        defer { calls.withLock { $0.running[number] = nil } }
        return try body()
    }

    /// What hangs now.
    /// - Parameter filtrations: how many photos are filtered and written at once.
    func hanging(_ now: ContinuousClock.Instant, filtrations: Int) -> Hanging {
        let late = calls.withLock { $0.running.values.filter { now - $0.began > patience } }
        let operations = late.compactMap(\.operation)
        return Hanging(
            operations: Set(operations), isAll: late.count > operations.count || operations.count >= filtrations)
    }
}
