import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomWorkerState
import Foundation

/// Tells on the events channel what becomes of photos: what key-value observing of an operation was on one device.
///
/// Letters are collected, the newest of each photo, and sent at most ten times a second, one batch a message, by a thread
/// of its own, or once a second while Redis reports that no client received the last message. Photos do not wait for that:
/// letters that cannot be sent soon enough are dropped, and `dropped` counts them.
package final class PhotoEvents: Sendable {
    /// What waits to be sent. A plain value: no thread or Redis is needed to test it.
    struct Backlog {
        /// The most photos of one message.
        static let maxPhotos = 2000
        /// The most letters that wait.
        static let maxWaiting = 20_000

        private struct Entry {
            let batch: BatchID
            let index: Int
            let stateCode: UInt8
        }

        private var entries: [Entry] = []
        private var dropped: [BatchID: Int] = [:]
        private var last: BatchID?

        var isEmpty: Bool { entries.isEmpty && dropped.isEmpty }

        /// Adds what became of a photo; beyond the most that may wait, the oldest go.
        mutating func add(_ batch: BatchID, _ index: Int, _ stateCode: UInt8) {
            if entries.count == Self.maxWaiting {
                // Many at once: moving the rest up for each single one would cost more than the letter.
                for entry in entries.prefix(Self.maxPhotos) { dropped[entry.batch, default: 0] += 1 }
                entries.removeFirst(Self.maxPhotos)
            }
            entries.append(Entry(batch: batch, index: index, stateCode: stateCode))
        }

        /// Takes out the next message: of the batch that waits longest, but not twice in turn of one while others wait.
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

    /// One message: letters of photos of one batch.
    struct Message {
        let batch: BatchID
        /// Letters of this batch that were dropped before.
        let dropped: Int
        private(set) var photos: [(index: Int, stateCode: UInt8)] = []
        private var positions: [Int: Int] = [:]

        init(batch: BatchID, dropped: Int) {
            self.batch = batch
            self.dropped = dropped
        }

        /// Adds a letter, in place of an older one of the photo; false when the message has no room for it.
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

        /// `{"event":"photos","time":...,"batch":ID,"worker":W,"photos":{"12":"F"}}`, and `"dropped"` where there are any.
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
                text += [
                    UInt8(ascii: "\""), UInt8(ascii: ":"), UInt8(ascii: "\""), photo.stateCode, UInt8(ascii: "\""),
                ]
            }
            text.append(UInt8(ascii: "}"))
            if dropped > 0 { JSONText.append("dropped", dropped, to: &text) }
            text.append(UInt8(ascii: "}"))
            return text
        }
    }

    private static let interval = Duration.milliseconds(100)
    /// While nobody listens. What is collected meanwhile is sent all the same: somebody may have come.
    private static let idleInterval = Duration.seconds(1)
    /// With more messages that Redis has not answered, none is sent: they would only fill memory.
    private static let maxUnanswered = 5

    private let worker: String
    private let channel: String
    private let connection: RedisConnection
    private let backlog = Locked(Backlog())
    private let news = Signal()
    private let stopped = Latch()
    private let unanswered = Locked(0)
    /// Whether the last message may have reached somebody.
    private let isReceived = Locked(true)
    /// Whether Redis is a node of a cluster, which counts only its own listeners of those that a message reached; nil before it
    /// has said so.
    private let isCluster = Locked<Bool?>(nil)
    /// The Redis clock, as it was at an answer.
    private let clock = Locked<(redis: Int, here: ContinuousClock.Instant)?>(nil)

    init(worker: String, channel: String, connection: RedisConnection) {
        self.worker = worker
        self.channel = channel
        self.connection = connection
    }

    /// Notes what became of a photo, unless its result is not wanted any more. Any thread, takes well below a microsecond.
    package func note(_ photo: PhotoTask, _ state: PhotoState) {
        guard !photo.cancellation.isCancelled else { return }
        let isFirst = backlog.withLock { backlog in
            defer { backlog.add(photo.operation.batch, photo.record.index, state.stateCode) }
            return backlog.isEmpty
        }
        if isFirst { news.raise() }
    }

    /// Ends the thread once what waits is sent.
    package func stop() {
        stopped.set()
        news.raise()
    }

    /// Runs until ``stop()``.
    package func run() {
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

    /// Waits until the next message may go; letters that come meanwhile do not cut it short.
    private func pause() {
        let end = ContinuousClock.now + (isReceived.withLock { $0 } ? Self.interval : Self.idleInterval)
        while !stopped.isSet, .now < end { news.wait(timeout: end - .now) }
    }

    /// Sends the next message, unless Redis is behind; what it answers tells its clock for the next.
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
            // A Redis that is away is the heart's to tell of.
            guard case .success(let value) = results[0], let parts = value.array, parts.count == 2,
                let seconds = parts[0].int, let micros = parts[1].int
            else { return }
            clock.withLock { $0 = (seconds * 1000 + micros / 1000, .now) }
        }
    }
}
