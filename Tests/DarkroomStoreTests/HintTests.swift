import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStore

@Suite(.redisServer) struct HintTests {
    /// What the channel of hints said, read up to a mark of one's own.
    private final class Hints: Sendable {
        private let heard = Locked<[String]>([])
        private let signal = DispatchSemaphore(value: 0)
        private let subscription: RedisSubscription

        init(_ test: TestStore) throws {
            let (heard, signal) = (heard, signal)
            subscription = RedisSubscription(
                RedisServer.current.configuration, channels: [test.store.keys.controlChannel]
            ) { event in
                switch event {
                case .subscribed: signal.signal()
                case .message(_, let text):
                    heard.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
                    if text == Array("mark".utf8) { signal.signal() }
                default: break
                }
            }
            #expect(signal.wait(timeout: .now() + 10) == .success, "the subscription")
        }

        func upToNow(_ test: TestStore) throws -> [String] {
            try test.command("PUBLISH", test.store.keys.controlChannel, "mark")
            #expect(signal.wait(timeout: .now() + 10) == .success, "the mark")
            return heard.withLock { heard in
                defer { heard = [] }
                return heard.dropLast()
            }
        }

        func close() { subscription.close() }
    }

    @Test func aBatchThatEntersARingSaysSo() throws {
        let test = try TestStore()
        for worker in ["one", "two"] { try test.heartbeat(worker) }
        let hints = try Hints(test)
        defer { hints.close() }
        let id = try test.submit(sealed: false)
        #expect(try hints.upToNow(test) == [])
        _ = try test.store.perform((1...5).map { test.feeding(id, $0, photos: 3) })
        #expect(try hints.upToNow(test) == [#"{"change":"work","workers":2,"priority":"normal"}"#])

        // Not again within 100 ms, then again.
        let held = try test.claim().map(\.held)
        let justNow = """
            local clock = redis.call('TIME')
            redis.call('HSET', KEYS[1], 'hinted.normal', clock[1] * 1000 + math.floor(clock[2] / 1000))
            """
        let calls = [
            RedisCommand("EVAL", justNow, "1", test.store.keys.control),
            test.store.handback(held[0], worker: "worker").command,
        ]
        for result in test.store.connection.call(calls) { _ = try result.get() }
        #expect(try hints.upToNow(test) == [])
        _ = try test.claim()
        try test.command("HINCRBY", test.store.keys.control, "hinted.normal", "-100")
        _ = try test.store.perform(test.store.handback(held[1], worker: "worker"))
        #expect(try hints.upToNow(test) == [#"{"change":"work","workers":3,"priority":"normal"}"#])
    }
}
