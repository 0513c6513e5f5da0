import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import Foundation

/// Sends packed operations to Redis, many of them before the first reply, and keeps each operation until Redis has
/// confirmed it.
///
/// The feeding thread owns the pipeline. While the list delivers no photos, a timer flushes the pipeline. The
/// connection's thread puts replies into a queue, from which the feeding thread or the timer takes them.
final class FeedPipeline: @unchecked Sendable {  // variables are used only while `lock` is held
    /// Thrown when the list must be read again.
    enum ReadAgain: Error {
        /// Redis has lost confirmed operations, because of a failover.
        case rolledBack
        /// Another coordinator has fed and sealed the batch, so this list must be compared with the batch.
        case overtaken
    }
    /// Thrown when the batch was cancelled, so that it accepts no more operations.
    struct Cancelled: Error {}

    /// The replies to consecutive operations.
    private struct Arrival: Sendable {
        let first: Int
        let results: [Result<FeedReply, StoreError>]
    }

    /// The maximum total size of unconfirmed operations, in bytes.
    private static let maxBytes = 4 << 20

    private let store: BatchStore
    private let batch: BatchID
    private let control: FeedControl
    private let arrivals = Locked<[Arrival]>([])
    private let lock = NSLock()

    private var window: FeedWindow
    /// The operations that Redis has not confirmed yet, in order.
    private var kept: [PackedOperation] = []
    private var keptBytes = 0
    private var packed: Int
    private var lastFed = ContinuousClock.now

    /// Creates a pipeline that begins with the operation after `confirmed`.
    init(store: BatchStore, batch: BatchID, confirmed: Int, control: FeedControl) {
        self.store = store
        self.batch = batch
        self.control = control
        window = FeedWindow(confirmed: confirmed)
        packed = confirmed
    }

    /// Adds the next operation. Blocks while too many operations are unconfirmed.
    func feed(_ operation: PackedOperation) throws {
        lock.lock()
        defer { lock.unlock() }
        packed = operation.number
        if operation.number > window.confirmed {
            kept.append(operation)
            keptBytes += operation.entry.count
        }
        // If the list arrives slowly, operations are sent at once, even if they do not fill a pipeline.
        let now = ContinuousClock.now
        let isSlow = now - lastFed > .milliseconds(5)
        lastFed = now
        try drive(allowsPartial: isSlow) { kept.count < window.mostKept && keptBytes < Self.maxBytes }
    }

    /// Blocks until Redis has all operations.
    func finish() throws {
        lock.lock()
        defer { lock.unlock() }
        try drive(allowsPartial: true) { kept.isEmpty }
    }

    /// Sends all operations that can be sent without waiting. These include operations that do not fill a pipeline, an
    /// operation that Redis refused for lack of memory, and operations that were in flight when the connection was
    /// lost. Only the feeding thread may end the feed, so this function never ends it.
    func flush() {
        lock.lock()
        defer { lock.unlock() }
        guard !kept.isEmpty else { return }
        takeArrivals()
        var mayResume = true
        while true {
            switch window.next(packed: packed, allowsPartial: true) {
            case .send(let numbers): send(numbers)
            case .pause where mayResume:
                window.resume()
                mayResume = false
            case .query where mayResume:
                guard let facts = control.attempt({ try store.facts(of: batch) }) else { return }
                // `apply` throws if the feed must end. The feeding thread reads the same facts and reports this error.
                guard (try? apply(facts)) != nil else { return }
                mayResume = false
            default: return
            }
        }
    }

    /// Performs the actions of the window until `isDone` returns true and the window has nothing to send.
    private func drive(allowsPartial: Bool, until isDone: () -> Bool) throws {
        while true {
            takeArrivals()
            try control.check()
            let mustWait = !isDone()
            switch window.next(packed: packed, allowsPartial: allowsPartial || mustWait) {
            case .send(let numbers): send(numbers)
            case .wait:
                guard mustWait else { return }
                control.wait(for: .seconds(1)) { !arrivals.withLock(\.isEmpty) }
            case .pause:
                control.wait(for: .milliseconds(100))
                window.resume()
            case .query: try query()
            case .restart: throw ReadAgain.rolledBack
            case .fail(.cancelled): throw Cancelled()
            case .fail(.gone): throw gone
            // The feeder reads the list again, compares it with the batch, and adds photos that follow the last photo
            // of the batch.
            case .fail: throw ReadAgain.overtaken
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
            switch RedisError.Outlook(error) {
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
    }

    private func query() throws {
        try apply(control.retrying { try store.facts(of: batch) })
    }

    /// Continues according to the facts in Redis. Throws if the feed cannot continue.
    private func apply(_ facts: BatchFacts?) throws {
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
