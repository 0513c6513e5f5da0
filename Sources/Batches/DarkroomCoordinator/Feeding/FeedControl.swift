import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore
import Foundation

/// The state that the threads of a feeder share: stop flag, failure, and a signal to wake the feeding thread.
///
/// Unchecked: all variables are read and written only while the lock is held.
final class FeedControl: @unchecked Sendable {
    /// The longest time for which Redis may be unreachable before the feeder fails.
    let patience: Duration

    private let store: BatchStore
    private let lock = NSLock()
    /// Raised when the feeding thread must check its state again. Only this thread waits.
    private let signal = Signal()
    private let onNotice: @Sendable (FeedNotice) -> Void
    private var isStopped = false
    private var isUnreachable = false
    private var failure: CoordinatorError?
    private var memory = MemoryWatch()

    init(store: BatchStore, patience: Duration, onNotice: @escaping @Sendable (FeedNotice) -> Void) {
        self.store = store
        self.patience = patience
        self.onNotice = onNotice
    }

    /// Throws if ``stop()`` or ``fail(_:)`` was called.
    func check() throws(CoordinatorError) {
        let (isStopped, failure) = locked { (self.isStopped, self.failure) }
        if let failure { throw failure }
        if isStopped { throw CoordinatorError(.stopped, "stopped before the whole list was fed") }
    }

    /// Makes the next ``check()`` throw `stopped`.
    func stop() {
        locked { isStopped = true }
        signal.raise()
    }

    /// Makes the next ``check()`` throw `error`, unless an earlier call has already set another error.
    func fail(_ error: CoordinatorError) {
        locked { failure = failure ?? error }
        signal.raise()
    }

    func notice(_ notice: FeedNotice) { onNotice(notice) }

    func answered() {
        noteReachable(nil)
        if locked({ memory.accepted(.now) }) { onNotice(.memoryFreed) }
    }

    /// Records that Redis has refused a write because it is out of memory. Blocks while it reads details for the notice
    /// from Redis, so the thread of the connection must not call this function.
    func refusedForMemory() {
        noteReachable(nil)
        switch locked({ memory.refused(.now) }) {
        case nil: return
        case .reportFull: onNotice(.memoryFull(RedisMemory(of: store)))
        case .checkForWork:
            guard hasNothingToDrain, locked({ memory.foundNoWork() }) else { return }
            onNotice(.memoryStaysFull)
        }
    }

    /// Whether all operations in Redis have ended, so that workers can free no more memory. False if reading fails; a
    /// later call reads again.
    private var hasNothingToDrain: Bool {
        guard let batches = try? store.facts(of: store.batchIDs()) else { return false }
        return batches.allSatisfy { $0.state == .finished || $0.operations == $0.operationsEnded }
    }

    /// Repeats `body` as long as Redis is unreachable or not ready, at most for ``patience``. While Redis is reachable
    /// but out of memory, there is no time limit.
    /// - Parameters:
    ///   - limit: the time limit for all failures, including a lack of memory; nil for the limits above.
    ///   - beforeTrying: called before each call of `body`. If `beforeTrying` throws, this function ends.
    func retrying<Result>(
        within limit: Duration? = nil, beforeTrying: () throws -> Void = {}, _ body: () throws -> Result
    ) throws -> Result {
        let patience = limit ?? patience
        var deadline = ContinuousClock.now + patience
        while true {
            try check()
            try beforeTrying()
            do {
                let result = try body()
                answered()
                return result
            } catch {
                switch RedisError.Outlook(error) {
                case .lasting: throw error
                case .full:
                    refusedForMemory()
                    if limit == nil {
                        deadline = .now + patience
                    } else if deadline <= .now {
                        throw CoordinatorError.memoryFull(RedisMemory(of: store))
                    }
                case .passing:
                    noteReachable(error)
                    guard ContinuousClock.now < deadline else {
                        throw CoordinatorError(
                            .redisUnreachable,
                            "Redis has been unreachable for \(patience.components.seconds) s: \(error)")
                    }
                }
            }
            wait(for: .milliseconds(100))
        }
    }

    /// Calls `body` once. Returns nil if it fails.
    func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do {
            let result = try body()
            answered()
            return result
        } catch {
            if RedisError.Outlook(error) == .passing { noteReachable(error) }
            return nil
        }
    }

    private func noteReachable(_ error: (any Error)?) {
        let isNews = locked {
            defer { isUnreachable = error != nil }
            return isUnreachable != (error != nil)
        }
        guard isNews else { return }
        onNotice(error.map { .connectionLost($0) } ?? .connectionRestored)
    }

    func wake() { signal.raise() }

    /// Waits until `isReady` returns true, the feeder must stop, or `duration` has passed.
    func wait(for duration: Duration, until isReady: () -> Bool = { false }) {
        let deadline = ContinuousClock.now + duration
        while !locked({ isStopped || failure != nil }), !isReady(), signal.wait(timeout: max(.zero, deadline - .now)) {}
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}

extension RedisError.Outlook {
    /// Whether a failed call can succeed later. Errors that do not come from Redis are permanent.
    init(_ error: any Error) {
        self = ((error as? StoreError)?.redis ?? error as? RedisError)?.outlook ?? .lasting
    }
}
