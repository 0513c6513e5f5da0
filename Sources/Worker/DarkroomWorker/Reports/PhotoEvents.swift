import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomWorkerState
import Foundation

/// Publishes the states of photos on the events channel.
///
/// A thread sends the newest state code of each photo; each message is about one batch. The thread sends at most ten
/// messages a second, or one a second if Redis reports that no client received the last message. A caller never waits
/// for the thread: if too many state codes wait, the oldest ones are dropped and counted in `dropped`.
final class PhotoEvents: Sendable {
    /// The state codes that wait to be sent. A plain value, so that tests need no thread and no Redis server.
    struct Backlog {
        /// The largest number of photos in a message.
        static let maxPhotos = 2000
        /// The largest number of waiting state codes.
        static let maxWaiting = 20_000

        private var entries: [(batch: BatchID, index: Int, stateCode: UInt8)] = []
        private var dropped: [BatchID: Int] = [:]
        private var last: BatchID?

        var isEmpty: Bool { entries.isEmpty && dropped.isEmpty }

        /// Adds the state code of a photo. If too many state codes wait, the oldest ones are dropped.
        mutating func add(_ batch: BatchID, _ index: Int, _ stateCode: UInt8) {
            if entries.count == Self.maxWaiting {
                // Removes many entries at a time, since each removal moves all other entries.
                for entry in entries.prefix(Self.maxPhotos) { dropped[entry.batch, default: 0] += 1 }
                entries.removeFirst(Self.maxPhotos)
            }
            entries.append((batch, index, stateCode))
        }

        /// Removes and returns the next message, which is about the batch of the oldest state code. If state codes of
        /// several batches wait, the batch of the last message is skipped.
        mutating func next() -> Message? {
            let other = entries.first { $0.batch != last } ?? entries.first
            guard let batch = other?.batch ?? dropped.keys.first else { return nil }
            last = batch
            var message = Message(batch: batch, dropped: dropped.removeValue(forKey: batch) ?? 0)
            var isFull = false
            entries.removeAll { entry in
                guard entry.batch == batch, !isFull else { return false }
                isFull = !message.add(entry.index, entry.stateCode)
                return !isFull
            }
            return message
        }
    }

    /// One message with the state codes of photos of one batch.
    struct Message {
        let batch: BatchID
        /// The number of dropped state codes of this batch since its last message.
        let dropped: Int
        private(set) var photos: [(index: Int, stateCode: UInt8)] = []
        private var positions: [Int: Int] = [:]

        init(batch: BatchID, dropped: Int) {
            self.batch = batch
            self.dropped = dropped
        }

        /// Adds the state code of a photo, or replaces its older state code. Returns false if the message is full.
        fileprivate mutating func add(_ index: Int, _ stateCode: UInt8) -> Bool {
            if let position = positions[index] {
                photos[position].stateCode = stateCode
            } else {
                guard photos.count < Backlog.maxPhotos else { return false }
                positions[index] = photos.count
                photos.append((index, stateCode))
            }
            return true
        }

        /// `{"event":"photos","time":...,"batch":ID,"worker":W,"photos":{"12":"F"}}`, with `"dropped"` if it is not 0.
        func json(worker: String, time: Int) -> [UInt8] {
            var text = Array("{\"event\":\"photos\",\"time\":\(time)".utf8)
            text.reserveCapacity(100 + photos.count * 14)
            JSONText.append("batch", batch.description, to: &text)
            JSONText.append("worker", worker, to: &text)
            text += Array(",\"photos\":{".utf8)
            for (position, photo) in photos.enumerated() {
                if position > 0 { text.append(UInt8(ascii: ",")) }
                text.append(UInt8(ascii: "\""))
                text += String(photo.index).utf8
                text += "\":\"\(Unicode.Scalar(photo.stateCode))\"".utf8
            }
            text.append(UInt8(ascii: "}"))
            if dropped > 0 { JSONText.append("dropped", dropped, to: &text) }
            text.append(UInt8(ascii: "}"))
            return text
        }
    }

    private static let interval = Duration.milliseconds(100)
    /// The time between two messages if no client received the last message. Sending continues, because a client may
    /// subscribe at any time.
    private static let idleInterval = Duration.seconds(1)
    /// The largest number of messages without a reply. Until a reply arrives, no further message is sent; this bounds
    /// memory.
    private static let maxUnanswered = 5

    private let worker: String
    private let channel: String
    private let connection: RedisConnection
    private let backlog = Locked(Backlog())
    private let news = Signal()
    private let stopped = Latch()
    private let unanswered = Locked(0)
    /// Whether a client may have received the last message.
    private let isReceived = Locked(true)
    /// Whether Redis is a node of a Redis Cluster; nil if unknown. In a Redis Cluster, the reply to PUBLISH counts only
    /// the receivers at one node.
    private let isCluster = Locked<Bool?>(nil)
    /// The time of the Redis clock in ms, and the instant at which this worker received this time.
    private let clock = Locked<(redis: Int, here: ContinuousClock.Instant)?>(nil)

    init(worker: String, channel: String, connection: RedisConnection) {
        self.worker = worker
        self.channel = channel
        self.connection = connection
    }

    /// Queues the new state of a photo, unless the photo was cancelled. Thread-safe; takes well below 1 µs.
    func note(_ photo: PhotoTask, _ state: PhotoState) {
        guard !photo.cancellation.isCancelled else { return }
        let isFirst = backlog.withLock { backlog in
            defer { backlog.add(photo.operation.batch, photo.record.index, state.stateCode) }
            return backlog.isEmpty
        }
        if isFirst { news.raise() }
    }

    /// Ends the thread after it has sent at most ``maxUnanswered`` further messages with waiting state codes.
    func stop() {
        stopped.set()
        news.raise()
    }

    func run() {
        ask([])
        while !stopped.isSet {
            news.wait()
            while !stopped.isSet, !backlog.withLock({ $0.isEmpty }) {
                send()
                pause()
            }
        }
        for _ in 0..<Self.maxUnanswered where !backlog.withLock({ $0.isEmpty }) { send() }
    }

    /// Waits until the next message may be sent. New state codes do not end the wait.
    private func pause() {
        let end = ContinuousClock.now + (isReceived.withLock { $0 } ? Self.interval : Self.idleInterval)
        while !stopped.isSet, .now < end { news.wait(timeout: end - .now) }
    }

    /// Sends a message, unless ``maxUnanswered`` messages have no reply. The reply contains the Redis time, which the
    /// next message needs.
    private func send() {
        guard unanswered.withLock({ $0 < Self.maxUnanswered }) else { return }
        guard let now = clock.withLock({ $0 }).map({ $0.redis + ($0.here.duration(to: .now)).wholeMilliseconds }) else {
            return ask([])
        }
        guard let message = backlog.withLock({ $0.next() }) else { return }
        let text = message.json(worker: worker, time: now)
        ask([RedisCommand(arguments: [Array("PUBLISH".utf8), Array(channel.utf8), text])])
    }

    private func ask(_ publish: [RedisCommand]) {
        unanswered.withLock { $0 += 1 }
        let asksMode = isCluster.withLock { $0 == nil }
        let commands = [RedisCommand("TIME")] + publish + (asksMode ? [RedisCommand("INFO", "server")] : [])
        connection.send(commands) { [self] results in
            unanswered.withLock { $0 -= 1 }
            if asksMode, case .success(let value)? = results.last, let text = value.string {
                isCluster.withLock { $0 = text.contains("redis_mode:cluster") }
            }
            if !publish.isEmpty, case .success(let reached) = results[1] {
                let isAlone = isCluster.withLock { $0 == false }
                isReceived.withLock { $0 = reached.int != 0 || !isAlone }
            }
            // Errors are ignored here: the heartbeat loop logs that Redis is unreachable.
            guard case .success(let value) = results[0], let parts = value.array, parts.count == 2,
                let seconds = parts[0].int, let micros = parts[1].int
            else { return }
            clock.withLock { $0 = (seconds * 1000 + micros / 1000, .now) }
        }
    }
}
