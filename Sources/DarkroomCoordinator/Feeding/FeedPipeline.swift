import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import Foundation

/// Brings packed operations to Redis, many on their way at once, and keeps each until Redis has it.
///
/// The feeding thread owns a pipeline, and a timer flushes it while the list pauses. Replies come on the connection's thread and
/// wait in a mailbox until one of them looks.
final class FeedPipeline: @unchecked Sendable {  // what changes is only touched while `lock` is held
    /// Thrown when the list is to be read again.
    enum ReadAgain: Error {
        /// Redis has lost operations that it had confirmed (a failover).
        case rolledBack
        /// Somebody else has fed the batch to the end of a list: this list is to be compared with it.
        case overtaken
    }
    /// Thrown when the batch was cancelled: it takes nothing more.
    struct Cancelled: Error {}

    /// Replies to a run of operations, as they came.
    private struct Arrival: Sendable {
        let first: Int
        let results: [Result<FeedReply, StoreError>]
    }

    /// The most bytes that are kept for operations that Redis has not confirmed.
    private static let maxBytes = 4 << 20

    private let store: BatchStore
    private let batch: BatchID
    private let control: FeedControl
    private let arrivals = Locked<[Arrival]>([])
    private let lock = NSLock()

    private var window: FeedWindow
    /// The operations that Redis has not confirmed, in order.
    private var kept: [PackedOperation] = []
    private var keptBytes = 0
    private var packed: Int
    private var lastFed = ContinuousClock.now

    /// A pipeline whose first operation follows `confirmed`.
    init(store: BatchStore, batch: BatchID, confirmed: Int, control: FeedControl) {
        self.store = store
        self.batch = batch
        self.control = control
        window = FeedWindow(confirmed: confirmed)
        packed = confirmed
    }

    /// Takes the next operation; blocks while as many are kept as may be.
    func feed(_ operation: PackedOperation) throws {
        lock.lock()
        defer { lock.unlock() }
        packed = operation.number
        if operation.number > window.confirmed {
            kept.append(operation)
            keptBytes += operation.entry.count
        }
        // Where the list comes slowly, an operation does not wait for others to fill a pipeline.
        let now = ContinuousClock.now
        let isSlow = now - lastFed > .milliseconds(5)
        lastFed = now
        try drive(isUrgent: isSlow) { kept.count < FeedWindow.most && keptBytes < Self.maxBytes }
    }

    /// Blocks until Redis has all operations.
    func finish() throws {
        lock.lock()
        defer { lock.unlock() }
        try drive(isUrgent: true) { kept.isEmpty }
    }

    /// Sends operations that are held back to fill a pipeline, one for which Redis had no memory before, and those that were
    /// on their way when Redis was lost, once it is back. Goes no further than it can without waiting: the feeding thread goes
    /// on reading the list meanwhile, and finds by itself what ends the feed.
    func flush() {
        lock.lock()
        defer { lock.unlock() }
        guard !kept.isEmpty else { return }
        takeArrivals()
        var mayResume = true
        while true {
            switch window.next(packed: packed, isUrgent: true) {
            case .send(let numbers): send(numbers)
            case .pause where mayResume:
                window.resume()
                mayResume = false
            case .ask where mayResume:
                guard let facts = control.attempt({ try store.facts(of: batch) }) else { return }
                // The feeding thread asks again with its next operation, and throws what ends the feed.
                guard (try? stands(facts)) != nil else { return }
                mayResume = false
            default: return
            }
        }
    }

    /// Does what the window says until nothing is to be done but to wait, and goes on waiting until `isDone`.
    private func drive(isUrgent: Bool, until isDone: () -> Bool) throws {
        while true {
            takeArrivals()
            try control.check()
            let mustWait = !isDone()
            switch window.next(packed: packed, isUrgent: isUrgent || mustWait) {
            case .send(let numbers): send(numbers)
            case .wait:
                guard mustWait else { return }
                control.wait(for: .seconds(1)) { !arrivals.withLock(\.isEmpty) }
            case .pause:
                control.wait(for: .milliseconds(100))
                window.resume()
            case .ask: try ask()
            case .restart: throw ReadAgain.rolledBack
            case .give(up: .cancelled): throw Cancelled()
            case .give(up: .gone): throw gone
            // The list is compared with what the batch is now, and may go on behind it.
            case .give: throw ReadAgain.overtaken
            }
        }
    }

    private func send(_ numbers: ClosedRange<Int>) {
        let start = numbers.lowerBound - kept[0].number
        let calls = kept[start..<start + numbers.count].map {
            store.feed(batch, operation: $0.number, photos: $0.photos, entry: $0.entry, digest: $0.digest)
        }
        store.send(calls) { [arrivals, control] results in
            arrivals.withLock { $0.append(Arrival(first: numbers.lowerBound, results: results)) }
            control.wake()
        }
    }

    private func takeArrivals() {
        let arrived = arrivals.withLock { waiting in
            defer { waiting.removeAll(keepingCapacity: true) }
            return waiting
        }
        guard !arrived.isEmpty else { return }
        for arrival in arrived {
            for (offset, result) in arrival.results.enumerated() { take(result, to: arrival.first + offset) }
        }
        dropConfirmed()
    }

    private func take(_ result: Result<FeedReply, StoreError>, to number: Int) {
        switch result {
        case .success(let reply):
            control.answered()
            window.replied(reply, to: number)
        case .failure(let error):
            switch RedisFailure(error) {
            case .full:
                control.refusedForMemory()
                window.replied(.full, to: number)
            case .passing: window.failed(number)
            case .lasting:
                control.fail(CoordinatorError(.redisRefused, "feed operation \(number) of \(batch): \(error)"))
            }
        }
    }

    private func dropConfirmed() {
        let confirmed = kept.prefix { $0.number <= window.confirmed }
        keptBytes -= confirmed.reduce(0) { $0 + $1.entry.count }
        kept.removeFirst(confirmed.count)
        control.confirmed(operations: window.confirmed)
    }

    /// Asks Redis where it stands.
    private func ask() throws {
        try stands(control.retrying { try store.facts(of: batch) })
    }

    /// Takes where Redis stands.
    private func stands(_ facts: BatchFacts?) throws {
        guard let facts else { throw gone }
        guard !facts.cancelled else { throw Cancelled() }
        guard !facts.sealed else { throw ReadAgain.overtaken }
        window.redisExpects(facts.operations + 1)
        dropConfirmed()
    }

    private var gone: CoordinatorError {
        CoordinatorError(
            .batchGone,
            "batch \(batch) is not in Redis any more: it was forgotten while it was fed; submit the list again")
    }
}
