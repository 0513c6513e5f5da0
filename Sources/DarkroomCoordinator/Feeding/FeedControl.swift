import Foundation

/// What the threads around a feeder share: what it has fed, whether it is to stop, and the signal that wakes it.
///
/// Unchecked: everything that changes is read and written under the condition's lock.
final class FeedControl: @unchecked Sendable {
    /// How long Redis may be silent before the feeder gives up.
    let patience: Duration

    private let condition = NSCondition()
    private let onNotice: @Sendable (FeedNotice) -> Void
    private var isStopped = false
    private var isUnreachable = false
    private var failure: CoordinatorError?
    private var operations = 0

    init(patience: Duration, onNotice: @escaping @Sendable (FeedNotice) -> Void) {
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

    /// Notes that Redis answers.
    func answered() { noteReachable(nil) }

    /// Does `body` again while Redis is away or not ready, as long as the patience lasts.
    func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        let deadline = ContinuousClock.now + patience
        while true {
            try check()
            do {
                let result = try body()
                answered()
                return result
            } catch {
                guard RedisFailure(error) != .lasting else { throw error }
                noteReachable(error)
                guard ContinuousClock.now < deadline else {
                    throw CoordinatorError(
                        .redisUnreachable, "Redis has been away for \(patience.components.seconds) s: \(error)")
                }
            }
            wait(for: .milliseconds(100))
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
