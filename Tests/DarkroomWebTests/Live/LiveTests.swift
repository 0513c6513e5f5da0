import Darkroom
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWeb

/// The events of a batch, and the focus that follows a page.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct LiveTests {
    private let site: TestSite
    private var store: BatchStore { site.client.store }

    init() throws { site = try TestSite() }

    // MARK: - Events

    @Test func sendsOnlyTheStatesThatHaveChanged() throws {
        let id = try site.submit(photos: 100) { $0.operationSize = 10 }
        let events = try site.events(of: "\(id)", "?first=20&count=50")
        events.read(until: "{\"first\":20,\"states\":\"\(String(repeating: "N", count: 50))\"}]}\n")
        let held = try claim(operations: 3)[2]
        #expect(held.number == 3)
        #expect(events.read(until: "}]}\n").contains("{\"first\":20,\"states\":\"PPPPPPPPPP\"}"))
        try report(held, "FFDFFFgFFF")
        let changed = events.read(until: "}]}\n")
        #expect(changed.contains("{\"first\":20,\"states\":\"FFDFFFgFFF\"}"), "\(changed)")
        #expect(!changed.contains("\"first\":30"))
    }

    /// A worker holds an operation, but most of its photos wait in the worker.
    @Test func onlyPhotosThatRunAreInProgress() throws {
        let id = try site.submit(photos: 20) { $0.operationSize = 10 }
        let running = [(field: "running", value: "\(id):3-4,19")]
        _ = try store.perform(store.heartbeat(worker: "worker", facts: running))
        let events = try site.events(of: "\(id)", "?first=0&count=20")
        events.read(until: "{\"first\":0,\"states\":\"\(String(repeating: "N", count: 20))\"}]}\n")
        #expect(try claim(operations: 1).count == 1)
        #expect(events.read(until: "}]}\n").contains("{\"first\":3,\"states\":\"PP\"}"))
    }

    /// Each state code is one character of an event: also the code of a reason that this version does not know, and a
    /// damaged code.
    @Test func everyStateTakesOnePlace() throws {
        let id = try site.submit(photos: 5)
        let key = Array(store.keys.states(id).utf8)
        let codes: [UInt8] = [0xC3, 0x01, UInt8(ascii: "\""), 0xFF]
        _ = try store.connection.call(.init(arguments: [Array("SETRANGE".utf8), key, Array("1".utf8), codes]))
        try site.events(of: "\(id)").read(until: "{\"first\":0,\"states\":\"Nz??z\"}")
    }

    @Test func sendsTheFactsOfTheBatchWhenAControlChanges() throws {
        let id = try site.submit()
        let events = try site.events(of: "\(id)")
        events.read(until: "event: states")
        _ = try site.client.control.suspend(id)
        #expect(events.read(until: "\"suspended\":true").contains("event: batch"))
    }

    @Test func movedViewGetsOtherPhotos() throws {
        let id = try site.submit(photos: 100)
        let (events, stream) = try open(id)
        #expect(try move(stream, #"{"first": 70, "count": 5}"#) == 204)
        events.read(until: #"{"first":70,"states":"NNNNN"}"#)
        #expect(try move(stream, #"{"first": 90, "count": 5000}"#) == 204)
        events.read(until: #"{"first":90,"states":"NNNNNNNNNN"}"#)
    }

    /// However many reports arrive at once, a client gets the last states.
    @Test func allChangesArrive() throws {
        let id = try site.submit(photos: 4000) { $0.operationSize = 1000 }
        let events = try site.events(of: "\(id)", "?count=4000")
        for held in try claim(operations: 16) { try report(held, String(repeating: "F", count: 1000)) }
        #expect(try store.facts(of: id)?.state == .finished)
        var text = ""
        var states = [Character](repeating: "N", count: 4000)
        let end = ContinuousClock.now + .seconds(20)
        while states.contains(where: { $0 != "F" }), .now < end {
            let newer = events.read(until: "}]}\n")
            text += newer
            for part in newer.matches(of: #/"first":(\d+),"states":"([^"]*)"/#) {
                guard let first = Int(part.1), first + part.2.count <= states.count else { continue }
                states.replaceSubrange(first..<first + part.2.count, with: part.2)
            }
        }
        #expect(states.allSatisfy { $0 == "F" })
        if !text.contains("\"state\":\"finished\"") { events.read(until: "\"state\":\"finished\"") }
    }

    @Test func tellsThatRedisIsAwayAndBack() throws {
        let redis = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { redis.stop() }
        let site = try TestSite(redis)
        let id = try site.submit()
        let events = try site.events(of: "\(id)")
        events.read(until: "event: states")
        redis.crash()
        events.read(until: "event: away")
        try redis.restart()
        events.read(until: "event: batch", timeout: 20)
    }

    // MARK: - The focus

    @Test func focusFollowsTheLatestPage() throws {
        let id = try site.submit(photos: 100)
        let (first, firstStream) = try open(id)
        let (second, secondStream) = try open(id)
        #expect(try move(firstStream, #"{"count": 10, "follow": "40-60"}"#) == 204)
        #expect(first.read(until: "following\":true").contains("event: follow"))
        try waitForFocus(of: id, 40...60)
        #expect(try move(secondStream, #"{"count": 10, "follow": "80-99"}"#) == 204)
        first.read(until: "following\":false")
        second.read(until: "following\":true")
        try waitForFocus(of: id, 80...99)
        // The first page no longer decides.
        #expect(try move(firstStream, #"{"count": 10}"#) == 204)
        try waitForEarlierChanges()
        #expect(try focus(of: id) == 80...99)
        withExtendedLifetime(first) {}
        shutdown(second.descriptor, Int32(SHUT_RDWR))
        try waitForFocus(of: id, nil)
    }

    /// A focus that somebody else has set after the page is kept, and the page is told.
    @Test(arguments: [false, true]) func closedPageClearsOnlyItsOwnFocus(stopsItself: Bool) throws {
        let id = try site.submit(photos: 100)
        let (events, stream) = try open(id)
        #expect(try move(stream, #"{"count": 10, "follow": "0-9"}"#) == 204)
        events.read(until: "following\":true")
        try waitForFocus(of: id, 0...9)
        _ = try site.client.control.focus(id, 50...59, only: false)
        if stopsItself {
            #expect(try move(stream, #"{"count": 10}"#) == 204)
        }
        events.read(until: "following\":false")
        try waitForEarlierChanges()
        #expect(try focus(of: id) == 50...59)
    }

    /// A page whose connection ends while it asks for the focus.
    @Test func pageThatHasLeftSetsNoFocus() throws {
        let id = try site.submit(photos: 100)
        for _ in 0..<20 {
            let (events, stream) = try open(id)
            events.reset()
            _ = try move(stream, #"{"count": 10, "follow": "0-9"}"#)
        }
        try waitUntil("the server has noticed the ends of the streams") {
            try metrics().contains("darkroom_watching_pages 0\n")
        }
        try waitForEarlierChanges()
        #expect(try focus(of: id) == nil)
    }

    @Test func focusChangesAtMostFiveTimesASecond() throws {
        let id = try site.submit(photos: 1000)
        let version = { try store.connection.call(.init("HGET", store.keys.control, "version")).int ?? 0 }
        let (events, stream) = try open(id)
        let (before, began) = (try version(), ContinuousClock.now)
        for first in 0..<100 {
            #expect(try move(stream, "{\"count\": 10, \"follow\": \"\(first)-\(first + 9)\"}") == 204)
        }
        try waitForFocus(of: id, 99...108)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        #expect(Double(try version() - before) <= 2 + seconds * 5)
        withExtendedLifetime(events) {}  // the end of the connection ends the stream
    }

    /// A page that has the focus only for a moment is told, too.
    @Test func lossOfTheFocusIsToldHoweverShortItWas() throws {
        let id = try site.submit(photos: 100)
        let (first, firstStream) = try open(id)
        let (second, secondStream) = try open(id)
        #expect(try move(firstStream, #"{"count": 10, "follow": "0-9"}"#) == 204)
        #expect(try move(secondStream, #"{"count": 10, "follow": "80-99"}"#) == 204)
        first.read(until: "following\":false")
        second.read(until: "following\":true")
    }

    /// The finish of a batch clears its focus; this is not a change by somebody else.
    @Test func focusFollowsThePageAfterARetry() throws {
        let id = try site.submit(photos: 10)
        let (events, stream) = try open(id)
        #expect(try move(stream, #"{"count": 10, "follow": "0-9"}"#) == 204)
        try waitForFocus(of: id, 0...9)
        try report(try #require(try claim(operations: 1).first), "gggggggggg")
        var seen = events.read(until: "\"state\":\"finished\"")
        #expect(try focus(of: id) == nil)
        #expect(try site.client.control.retry(id).photos == 10)
        try waitForFocus(of: id, 0...9)
        _ = try site.client.control.suspend(id)
        seen += events.read(until: "\"suspended\":true")
        #expect(!seen.contains("following\":false"))
    }

    /// A focus on photos that are not in the batch is refused; this is not a change by somebody else.
    @Test func refusedFocusIsNotLost() throws {
        let id = try site.submit(photos: 10)
        let (events, stream) = try open(id)
        #expect(try move(stream, #"{"count": 10, "follow": "100-109"}"#) == 204)
        try waitForEarlierChanges()
        _ = try site.client.control.prioritize(id, .high)
        #expect(!events.read(until: "\"priority\":\"high\"").contains("following\":false"))
        _ = try site.client.control.prioritize(id, .low)
        #expect(!events.read(until: "\"priority\":\"low\"").contains("following\":false"))
    }

    /// The machine of a page may be switched off, so that nothing closes the connection.
    @Test func systemClosesTheConnectionOfAPageThatAcknowledgesNothing() throws {
        let (events, _) = try open(try site.submit(photos: 10))
        func port(_ name: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> UInt16? {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name($0, &length) }
            }
            return status == 0 && address.sin_family == sa_family_t(AF_INET) ? address.sin_port : nil
        }
        let client = try #require(port { getsockname(events.descriptor, $0, $1) })
        let server = (Int32(3)..<4096).first { descriptor in port { getpeername(descriptor, $0, $1) } == client }
        var timeout = UInt32(0)
        var length = socklen_t(MemoryLayout<UInt32>.size)
        let status = getsockopt(try #require(server), Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &length)
        #expect(status == 0 && timeout == 20_000)
    }

    // MARK: - Helpers

    private func open(_ id: BatchID) throws -> (RawClient, stream: Substring) {
        let events = try site.events(of: "\(id)")
        let text = events.read(until: "\"}\n\n")
        return (events, try #require(text.firstMatch(of: #/"id":"([0-9a-f]{32})"/#)).1)
    }

    private func move(_ stream: Substring, _ fields: String) throws -> Int {
        try site.call("PUT", "/streams/\(stream)/view", fields).status
    }

    private func claim(operations: Int) throws -> [HeldOperation] {
        guard
            case .claimed(let claimed) = try store.perform(
                store.claim(worker: "worker", number: 1, operations: operations))
        else { return [] }
        return claimed.operations.map(\.held)
    }

    private func report(_ held: HeldOperation, _ stateCodes: String) throws {
        _ = try store.perform(
            store.report(held, worker: "worker", stateCodes: Array(stateCodes.utf8), bytesIn: 0, bytesOut: 0))
    }

    private func metrics() throws -> String {
        try site.fetch("GET", "/metrics", headers: ["Authorization": "Bearer \(TestSite.token)"]).text
    }

    private func focus(of id: BatchID) throws -> ClosedRange<Int>? { try store.facts(of: id)?.controls.focus?.photos }

    /// Waits until the server has applied all earlier requests to change a focus. In each round, it applies all
    /// requests that it finds, in any order; requests that arrive during a round are applied in the next one. Therefore
    /// all earlier changes are applied before the second change here.
    private func waitForEarlierChanges() throws {
        let other = try site.submit(photos: 10)
        let (events, stream) = try open(other)
        #expect(try move(stream, #"{"count": 1, "follow": "3-4"}"#) == 204)
        try waitForFocus(of: other, 3...4)
        #expect(try move(stream, #"{"count": 1, "follow": "5-6"}"#) == 204)
        try waitForFocus(of: other, 5...6)
        withExtendedLifetime(events) {}
    }

    /// Waits until a batch has a focus. A focus that stays the same has no event.
    private func waitForFocus(
        of id: BatchID, _ photos: ClosedRange<Int>?, at location: SourceLocation = #_sourceLocation
    ) throws {
        try waitUntil("the focus is \(String(describing: photos))", at: location) { try focus(of: id) == photos }
    }
}
