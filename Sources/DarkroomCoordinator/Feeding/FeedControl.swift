import DarkroomStore
import Foundation

/// What the threads around a feeder share: what it has fed, whether it is to stop, and the signal that wakes it.
///
/// Unchecked: everything that changes is read and written under the condition's lock.
final class FeedControl: @unchecked Sendable {
    /// How long Redis may be silent before the feeder gives up.
    let patience: Duration

    private let store: BatchStore
    private let condition = NSCondition()
    private let onNotice: @Sendable (FeedNotice) -> Void
    private var isStopped = false
    private var isUnreachable = false
    private var failure: CoordinatorError?
    private var operations = 0
    private var memory = MemoryWatch()

    init(store: BatchStore, patience: Duration, onNotice: @escaping @Sendable (FeedNotice) -> Void) {
        self.store = store
        self.patience = patience
        self.onNotice = onNotice
    }

    /// The operations that Redis has confirmed.
    var confirmedOperations: Int { locked { operations } }

    /// Throws when the feeder is to stop or something failed for good.
    func check() throws(CoordinatorError) {
        let (isStopped, failure) = locked { (self.isStopped, self.failure) }
        if let failure { throw failure }
        if isStopped { throw CoordinatorError(.stopped, "stopped before the whole list was fed") }
    }

    /// Makes the feeder stop at its next step.
    func stop() { change { isStopped = true } }

    /// Makes the feeder fail at its next step.
    func fail(_ error: CoordinatorError) { change { failure = failure ?? error } }

    /// Notes what Redis has.
    func confirmed(operations: Int) { change { self.operations = operations } }

    /// Tells the user something.
    func notice(_ notice: FeedNotice) { onNotice(notice) }

    /// Notes that Redis answers.
    func answered() {
        noteReachable(nil)
        if locked({ memory.accepted(.now) }) { onNotice(.memoryFreed) }
    }

    /// Notes that Redis has refused something because it has no memory left. Reads from Redis what to say of it: for the
    /// feeding thread.
    func refusedForMemory() {
        noteReachable(nil)
        switch locked({ memory.refused(.now) }) {
        case nil: return
        case .tell: onNotice(.memoryFull(RedisMemory(of: store)))
        case .lookForWork:
            guard hasNothingToDrain, locked({ memory.foundNoWork() }) else { return }
            onNotice(.memoryStaysFull)
        }
    }

    /// Whether no operation of any batch is left that workers could end. What cannot be read now is looked at later again.
    private var hasNothingToDrain: Bool {
        guard let batches = try? store.facts(of: store.batchIDs()) else { return false }
        return batches.allSatisfy { $0.state == .finished || $0.operations == $0.operationsEnded }
    }

    /// Does `body` again while Redis is away or not ready, as long as the patience lasts, and for any time while it only
    /// has no memory left.
    func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        var deadline = ContinuousClock.now + patience
        while true {
            try check()
            do {
                let result = try body()
                answered()
                return result
            } catch {
                switch RedisFailure(error) {
                case .lasting: throw error
                case .full:
                    refusedForMemory()
                    deadline = .now + patience
                case .passing:
                    noteReachable(error)
                    guard ContinuousClock.now < deadline else {
                        throw CoordinatorError(
                            .redisUnreachable, "Redis has been away for \(patience.components.seconds) s: \(error)")
                    }
                }
            }
            wait(for: .milliseconds(100))
        }
    }

    /// Does `body` once; nil if it fails.
    func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do {
            let result = try body()
            answered()
            return result
        } catch {
            if case .passing = RedisFailure(error) { noteReachable(error) }
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

    /// Wakes the feeder, since something has arrived.
    func wake() { change {} }

    /// Waits until `isReady`, the feeder is to stop, or the time is over.
    func wait(for duration: Duration, until isReady: () -> Bool = { false }) {
        condition.lock()
        defer { condition.unlock() }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let deadline = Date(timeIntervalSinceNow: seconds)
        while !isStopped, failure == nil, !isReady(), condition.wait(until: deadline) {}
    }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }
}
