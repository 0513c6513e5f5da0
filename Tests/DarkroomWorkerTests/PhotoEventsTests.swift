import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// Collects the `photos` events of the events channel.
private final class ReceivedEvents: Sendable {
    struct Message: Sendable {
        let text: String
        /// The state code of each photo, by index.
        let photos: [String: String]
        let batch: String
        let dropped: Int
        let clock: Int
    }

    private let messages = Locked<[Message]>([])
    private let news = Signal()
    private let isSubscribed = DispatchSemaphore(value: 0)
    private let subscription = Locked<RedisSubscription?>(nil)

    init(_ darkroom: Darkroom) {
        let started = RedisSubscription(darkroom.redis.configuration, channels: [darkroom.keys.eventsChannel]) {
            [messages, news, isSubscribed] event in
            switch event {
            case .subscribed: isSubscribed.signal()
            case .disconnected: break
            case .message(_, let payload):
                let json = (try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]) ?? [:]
                guard json["event"] as? String == "photos" else { return }
                let message = Message(
                    text: String(decoding: payload, as: UTF8.self), photos: json["photos"] as? [String: String] ?? [:],
                    batch: json["batch"] as? String ?? "", dropped: json["dropped"] as? Int ?? 0,
                    clock: json["time"] as? Int ?? 0)
                messages.withLock { $0.append(message) }
                news.raise()
            }
        }
        subscription.withLock { $0 = started }
        isSubscribed.wait()
    }

    deinit { subscription.withLock { $0 }?.close() }

    var count: Int { messages.withLock { $0.count } }

    /// Waits for `isMet`, at most 20 s. Returns all messages received so far.
    func wait(_ awaited: String, until isMet: ([Message]) -> Bool) -> [Message] {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let all = messages.withLock { $0 }
            if isMet(all) { return all }
            guard .now < deadline else {
                Issue.record("\(awaited) was not received within 20 s: \(all.map(\.text))")
                return all
            }
            news.wait(timeout: .milliseconds(100))
        }
    }
}

@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct PhotoEventsTests {
    private let batch = BatchID("20261121-090501123-7f3a")
    private let other = BatchID("20261121-090501999-0001")

    @Test func workerPublishesTheStatesOfPhotos() throws {
        let darkroom = try Darkroom(.current)
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/text": .answer(body: [1])])
        defer { server.stop() }
        let received = ReceivedEvents(darkroom)
        let id = try darkroom.submit([server.url("/text"), "NO URL", server.url("/held")], darkroom.options())
        let (worker, all) = try darkroom.withWorker { worker in
            _ = received.wait("the end of photo 0") { $0.contains { $0.photos["0"] == "n" } }
            server.release()
            let all = received.wait("the end of photo 2") { $0.contains { $0.photos["2"] == "n" } }
            return (worker, all)
        }
        var stateCodes: [String: String] = [:]
        for message in all { stateCodes.merge(message.photos) { $1 } }
        #expect(stateCodes == ["0": "n", "1": "a", "2": "n"])
        #expect(all.allSatisfy { $0.batch == "\(id)" && $0.text.contains("\"worker\":\"\(worker.id)\"") })
        let now = try darkroom.store.time()
        #expect(all.allSatisfy { (now - 60_000...now + 1000).contains($0.clock) })
    }

    @Test func sendsAtMostTenMessagesPerSecond() throws {
        let darkroom = try Darkroom(.current)
        let received = ReceivedEvents(darkroom)
        let events = PhotoEvents(
            worker: "w", channel: darkroom.keys.eventsChannel, connection: darkroom.store.connection)
        let thread = OwnedThread("events") { events.run() }
        let began = ContinuousClock.now
        var count = 0
        while received.count < 6 {
            try #require(.now - began < .seconds(20), "\(received.count) messages received within 20 s")
            let record = PhotoRecord(index: count, name: "", url: "")
            events.note(task(record), .filtered)
            count += 1
            usleep(1000)
        }
        let all = received.wait("photo \(count - 1)") { $0.contains { $0.photos["\(count - 1)"] != nil } }
        let passed = ContinuousClock.now - began
        events.stop()
        thread.join()
        // The first message is sent at once. Each later message is sent at least 100 ms after the previous message.
        #expect(all.count <= 1 + Int(passed / .milliseconds(100)), "\(all.count) messages in \(passed)")
        #expect(all.reduce(0) { $0 + $1.photos.count + $1.dropped } == count, "state codes were lost or sent twice")
    }

    @Test func sendsOneMessagePerSecondWithoutASubscriberAndLosesNoEventAfterASubscription() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let darkroom = try Darkroom(redis)
        let events = PhotoEvents(
            worker: "w", channel: darkroom.keys.eventsChannel, connection: darkroom.store.connection)
        let thread = OwnedThread("events") { events.run() }
        var count = 0
        func note() {
            let record = PhotoRecord(index: count, name: "", url: "")
            events.note(task(record), .filtered)
            count += 1
        }
        func sent() throws -> Int {
            let text = try darkroom.store.connection.call(RedisCommand("INFO", "commandstats")).string ?? ""
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_publish:calls=") }
            return line.flatMap { Int($0.dropFirst("cmdstat_publish:calls=".count).prefix { $0 != "," }) } ?? 0
        }
        let began = ContinuousClock.now
        try waitUntil("four messages are sent") {
            note()
            return try sent() >= 4
        }
        // The first two messages are sent at once. Each later message is sent a second after the previous message.
        #expect(.now - began > .milliseconds(1900))
        // A subscriber receives every change that is recorded after its subscription.
        let received = ReceivedEvents(darkroom)
        func noteAndReceive() {
            let photo = "\(count)"
            note()
            _ = received.wait("photo \(photo)") { $0.contains { $0.photos[photo] != nil } }
        }
        noteAndReceive()
        // From now on a message is sent every 100 ms. Other tests may use all cores for a moment.
        let times = (1...10).map { _ in ContinuousClock().measure { noteAndReceive() } }
        #expect(times.contains { $0 < .milliseconds(500) }, "a message takes a second: \(times)")
        events.stop()
        thread.join()
    }

    @Test func sendsPendingEventsWhenItStops() throws {
        let darkroom = try Darkroom(.current)
        let received = ReceivedEvents(darkroom)
        let events = PhotoEvents(
            worker: "w", channel: darkroom.keys.eventsChannel, connection: darkroom.store.connection)
        let thread = OwnedThread("events") { events.run() }
        func note(_ index: Int) {
            let record = PhotoRecord(index: index, name: "", url: "")
            events.note(task(record), .filtered)
        }
        note(0)
        _ = received.wait("photo 0") { !$0.isEmpty }
        note(1)
        events.stop()
        thread.join()
        _ = received.wait("photo 1") { $0.contains { $0.photos["1"] == "F" } }
    }

    @Test func keepsTheLatestStateCodeOfAPhoto() throws {
        var backlog = PhotoEvents.Backlog()
        backlog.add(batch, 7, UInt8(ascii: "D"))
        backlog.add(batch, 8, UInt8(ascii: "D"))
        backlog.add(batch, 7, UInt8(ascii: "F"))
        backlog.add(batch, 9, 0x80)
        let next = backlog.next()
        let message = try #require(next)
        #expect(backlog.isEmpty && backlog.next() == nil)
        #expect(
            String(decoding: message.json(worker: "w", time: 5), as: UTF8.self)
                == #"{"event":"photos","time":5,"batch":"20261121-090501123-7f3a","worker":"w","photos":{"7":"F","8":"D","9":"\#u{80}"}}"#
        )
    }

    @Test func messageHasAtMost2000PhotosAndBatchesTakeTurns() {
        var backlog = PhotoEvents.Backlog()
        for index in 0..<4500 { backlog.add(batch, index, UInt8(ascii: "F")) }
        backlog.add(other, 3, UInt8(ascii: "F"))
        let messages = (0..<4).compactMap { _ in backlog.next() }
        #expect(messages.map(\.batch) == [batch, other, batch, batch])
        #expect(messages.map(\.photos.count) == [2000, 1, 2000, 500])
        #expect(messages.flatMap(\.photos).filter { $0.index == 3 }.count == 2 && backlog.isEmpty)
    }

    @Test func dropsAndCountsTheOldestEventsAboveTheLimit() throws {
        var backlog = PhotoEvents.Backlog()
        backlog.add(other, 0, UInt8(ascii: "F"))
        for index in 0..<30_000 { backlog.add(batch, index, UInt8(ascii: "F")) }
        var photos = 0
        var dropped: [BatchID: Int] = [:]
        var newest = 0
        while let message = backlog.next() {
            photos += message.photos.count
            newest = max(newest, message.photos.map(\.index).max() ?? 0)
            dropped[message.batch, default: 0] += message.dropped
            let text = String(decoding: message.json(worker: "w", time: 5), as: UTF8.self)
            #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any])
            #expect(text.contains("\"dropped\":\(message.dropped)}") == (message.dropped > 0))
        }
        #expect(photos <= 20_000 && photos + dropped.values.reduce(0, +) == 30_001)
        #expect(dropped[other] == 1 && newest == 29_999)
    }

    private func task(_ record: PhotoRecord) -> PhotoTask {
        let held = HeldOperation(batch: batch, number: 1, fencingToken: 1)
        return PhotoTask(record, of: held, isStored: false, isQuarantined: false)
    }
}
