import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore

/// Tests the exact text of the messages on the channels, because users read these messages with redis-cli.
@Suite(.redisServer) struct EventTests {
    /// The texts of the messages without their times.
    private func texts(_ messages: [Listener.Message]) -> [String] {
        messages.map { message in
            guard let time = message.int("time") else { return message.text }
            return message.text.replacing(#","time":\#(time)"#, with: "")
        }
    }

    @Test func publishesTheEventsOfABatch() throws {
        let test = try TestStore()
        let listener = try Listener(test.store)
        defer { listener.close() }
        func events() throws -> [String] { texts(try listener.upToNow().events) }

        let id = try test.submit(size: 2, operations: 2)
        #expect(
            try events() == [
                #"{"event":"submitted","batch":"batch"}"#, #"{"event":"isReady","batch":"batch","value":true}"#,
            ])
        let held = try test.claim().map(\.held)
        #expect(
            try events() == [
                #"{"event":"isExecuting","batch":"batch","value":true}"#,
                #"{"event":"claimed","batch":"batch","operations":[1,2],"worker":"worker"}"#,
            ])
        _ = try test.store.perform(test.store.release(held[0], worker: "worker"))
        #expect(try events() == [#"{"event":"released","batch":"batch","operation":1}"#])
        try test.pass(seconds: 16)
        try test.heartbeat()
        #expect(try events() == [#"{"event":"recovered","batch":"batch","operation":2,"leaseExpiries":1}"#])
        let again = try test.claim().map(\.held)
        try test.report(again[0], "FF")
        #expect(
            try events() == [
                #"{"event":"claimed","batch":"batch","operations":[1,2],"worker":"worker"}"#,
                #"{"event":"ended","batch":"batch","operation":1}"#,
            ])
        try test.report(again[1], "FC")
        #expect(
            try events() == [
                #"{"event":"ended","batch":"batch","operation":2}"#,
                #"{"event":"isFinished","batch":"batch","value":true}"#,
                #"{"event":"completion","batch":"batch","round":1,"cancelled":false,"photos":4,"filtered":3,"failed":0,"cancelledPhotos":1}"#,
            ])
        _ = try test.store.perform(test.store.forget(id))
        #expect(try events() == [#"{"event":"forgotten","batch":"batch"}"#])
    }

    @Test func controlsSendEventsAndChangeNotices() throws {
        let test = try TestStore()
        let id = try test.submit(size: 10, operations: 2, sealed: false)
        let listener = try Listener(test.store)
        defer { listener.close() }
        func expect<Reply>(
            _ call: ScriptCall<Reply>, _ event: String, _ notice: String, _ location: SourceLocation = #_sourceLocation
        ) throws {
            _ = try test.store.perform(call)
            let (notices, events) = try listener.upToNow()
            #expect(texts(events) == [event], sourceLocation: location)
            #expect(texts(notices.filter { $0.name != "work" }) == [notice], sourceLocation: location)
        }
        try expect(
            test.store.suspend(id, .downloads, true),
            #"{"event":"isSuspended","batch":"batch","value":true,"part":"downloads"}"#,
            #"{"change":"batch","batch":"batch","controls":"2,d,,","version":1}"#)
        try expect(
            test.store.prioritize(id, .veryHigh), #"{"event":"priority","batch":"batch","value":"veryHigh"}"#,
            #"{"change":"batch","batch":"batch","controls":"4,d,,","version":2}"#)
        try expect(
            test.store.focus(id, BatchControls.Focus(40...60, only: true)),
            #"{"event":"focus","batch":"batch","first":40,"last":60,"only":true}"#,
            #"{"change":"batch","batch":"batch","controls":"4,do,40,60","version":3}"#)
        try expect(
            test.store.focus(id, nil), #"{"event":"focus","batch":"batch","first":null,"last":null,"only":null}"#,
            #"{"change":"batch","batch":"batch","controls":"4,d,,","version":4}"#)
        try expect(
            test.store.suspend(nil, .everything, true), #"{"event":"isSuspended","value":true,"part":"everything"}"#,
            #"{"change":"cluster","cluster":"s,,","version":5}"#)
        try expect(
            test.store.setLimits(downloads: 16, filtrations: nil),
            #"{"event":"limits","downloads":16,"filtrations":null}"#,
            #"{"change":"cluster","cluster":"s,16,","version":6}"#)
        try expect(
            test.store.cancelPhotos(id, [3...4]), #"{"event":"photos","batch":"batch","photos":{"3":"C","4":"C"}}"#,
            #"{"change":"photos","batch":"batch","version":7}"#)
        _ = try test.store.perform(test.store.cancel(id))
        let (notices, events) = try listener.upToNow()
        #expect(texts(notices) == [#"{"change":"batch","batch":"batch","controls":"4,cd,,","version":8}"#])
        #expect(texts(events).first == #"{"event":"isCancelled","batch":"batch","value":true}"#)
        #expect(events.map(\.name) == ["isCancelled", "isFinished", "completion"])
        #expect(events.last?.int("cancelledPhotos") == 20)

        // A call that changes nothing sends no message.
        _ = try test.store.perform(test.store.cancel(id))
        _ = try test.store.perform(test.store.suspend(nil, .everything, true))
        let (noHints, noEvents) = try listener.upToNow()
        #expect(noHints.isEmpty && noEvents.isEmpty)
    }

    @Test func publishesDependencies() throws {
        let test = try TestStore()
        let first = try test.submit("first", sealed: false)
        let second = try test.submit("second")
        let third = try test.submit("third", sealed: false)
        let listener = try Listener(test.store)
        defer { listener.close() }
        _ = try test.store.perform(test.store.addDependency(third, on: first, version: 0))
        #expect(
            texts(try listener.upToNow().events) == [
                #"{"event":"isReady","batch":"third","value":false}"#,
                #"{"event":"dependencies","batch":"third","value":1}"#,
            ])
        #expect(try test.store.perform(test.store.addDependency(third, on: second, version: 1)) == .finishedBefore)
        #expect(try listener.upToNow().events.isEmpty)
        _ = try test.store.perform(test.store.seal(first, operations: 0, photos: 0))
        try test.heartbeat()
        #expect(
            texts(Array(try listener.upToNow().events.dropFirst(2))) == [
                #"{"event":"dependencies","batch":"third","value":0}"#,
                #"{"event":"isReady","batch":"third","value":true}"#,
            ])
    }

    /// Sets the time of the last `work` notice of a priority to `age` ms ago.
    private func setLastNotice(_ test: TestStore, _ priority: BatchPriority, age: Int) throws {
        let script = """
            local clock = redis.call('TIME')
            redis.call('HSET', KEYS[1], ARGV[1], clock[1] * 1000 + math.floor(clock[2] / 1000) - ARGV[2])
            """
        try test.command("EVAL", script, "1", test.store.keys.control, "notified.\(priority)", "\(age)")
    }

    @Test func eachPriorityHasItsOwnNoticeLimit() throws {
        let test = try TestStore()
        let low = try test.submit("low", operations: 1, sealed: false) { $0.priority = .low }
        let high = try test.submit("high", operations: 1, sealed: false) { $0.priority = .high }
        _ = try test.claim()
        let listener = try Listener(test.store)
        defer { listener.close() }
        for priority in [BatchPriority.low, .high] { try setLastNotice(test, priority, age: 100) }
        _ = try test.store.perform([low, high].map { test.feeding($0, 2, photos: 3) })
        #expect(
            texts(try listener.upToNow().notices) == [
                #"{"change":"work","workers":1,"priority":"low","operations":1}"#,
                #"{"change":"work","workers":1,"priority":"high","operations":1}"#,
            ])
    }

    @Test func resumeSendsANoticeAtOnce() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        _ = try test.store.perform(test.store.suspend(id, .everything, true))
        let listener = try Listener(test.store)
        defer { listener.close() }
        try setLastNotice(test, .normal, age: 0)
        _ = try test.store.perform(test.store.suspend(id, .everything, false))
        #expect(try listener.upToNow().notices.map(\.name) == ["batch", "work"])
    }
}
