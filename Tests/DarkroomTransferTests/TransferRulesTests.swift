import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomTransfer

@Suite struct TransferURLTests {
    @Test(arguments: [
        ("http://Example.org/a.jpg", "http://Example.org/a.jpg", "example.org"),
        ("HTTPS://example.org:8443/a?b=c", "https://example.org:8443/a?b=c", "example.org"),
        ("http://example.org/a b/\u{e9}.jpg", "http://example.org/a%20b/%C3%A9.jpg", "example.org"),
        ("http://example.org", "http://example.org/", "example.org"),
        ("http://[::1]:80/x", "http://[::1]:80/x", "[::1]"),
    ])
    func readsWebAddresses(text: String, url: String, host: String) throws {
        #expect(try TransferURL(parsing: text) == .web(url: url, host: host))
    }

    @Test func decodesThePathOfAFile() throws {
        #expect(try TransferURL(parsing: "file:///photos/a%20b.jpg") == .file(path: "/photos/a b.jpg"))
    }

    @Test(arguments: [
        "", "NO URL", "example.org/a.jpg", "/a.jpg", "http://", "http://a b/", "http:///", "file://other/x",
    ])
    func refusesInvalidURLs(text: String) {
        let refusal = expectError(TransferError.self) { try TransferURL(parsing: text) }
        #expect(refusal?.code == .notAURL)
    }

    @Test(arguments: ["ftp://example.org/a.jpg", "gopher://example.org/", "s3://bucket/key"])
    func refusesOtherSchemes(text: String) {
        let refusal = expectError(TransferError.self) { try TransferURL(parsing: text) }
        #expect(refusal?.code == .schemeDenied)
    }
}

@Suite struct HostQueuesTests {
    /// Ends a transfer of `host`, and returns the next queued element to start.
    private func next<Element>(
        _ queues: inout HostQueues<Element>, after host: String = "a", _ priority: Int = 0
    ) -> Element? {
        queues.release(host, priority: priority)
        return queues.next()
    }

    @Test func startsUpToTheLimitOfAHostAndTheOthersInOrder() {
        var queues = HostQueues<Int>(limit: 2)
        let admitted = [1, 2, 3, 4].map { queues.admit($0, host: "a") }
        #expect(admitted == [true, true, false, false])
        let other = queues.admit(5, host: "b")
        #expect(other)
        let released = (0..<3).map { _ in next(&queues) }
        #expect(released == [3, 4, nil])
        let again = [6, 7].map { queues.admit($0, host: "a") }
        #expect(again == [true, false])
    }

    @Test func higherPrioritiesAreNext() {
        var queues = HostQueues<Int>(limit: 1)
        _ = queues.admit(0, host: "a")
        for (element, priority) in [(1, 2), (2, 5), (3, 2), (4, 5)] {
            _ = queues.admit(element, host: "a", order: TransferOrder(priority: priority))
        }
        _ = queues.admit(5, host: "a", order: TransferOrder(priority: 2, isFirst: true))
        let released = [0, 5, 5, 2, 2].map { next(&queues, $0) }
        #expect(released == [2, 4, 5, 1, 3])
    }

    private func next(_ queues: inout HostQueues<Int>, _ priority: Int) -> Int? {
        next(&queues, after: "a", priority)
    }

    @Test func groupsOfOnePriorityTakeTurns() {
        var queues = HostQueues<String>(limit: 1)
        _ = queues.admit("runs", host: "a")
        for element in ["a1", "a2", "a3", "a4", "b1", "b2"] {
            _ = queues.admit(element, host: "a", order: TransferOrder(group: String(element.prefix(1))))
        }
        let released = (0..<6).compactMap { _ in next(&queues) }
        #expect(released == ["a1", "b1", "a2", "b2", "a3", "a4"])
    }

    @Test func newOrderAppliesAtOnce() {
        var queues = HostQueues<Int>(limit: 1)
        for element in 0...3 { _ = queues.admit(element, host: "a") }
        queues.reorder("a", to: TransferOrder(priority: 1)) { $0 == 3 }
        queues.remove("a") { $0 == 1 }
        let released = [0, 1, 0].map { next(&queues, $0) }
        #expect(released == [3, 2, nil])
    }

    @Test func hasNoLimitByDefault() {
        var queues = HostQueues<Int>(limit: nil)
        let admitted = (0..<1000).filter { queues.admit($0, host: "a") }
        #expect(admitted.count == 1000)
    }

    @Test func placesOfAPriorityAreSharedWithHigherPrioritiesOnly() {
        var queues = HostQueues<String>(limit: nil, maxRunning: 2)
        func admit(_ element: String, _ priority: Int) -> Bool {
            queues.admit(element, host: element, order: TransferOrder(priority: priority))
        }
        #expect([admit("low1", 0), admit("low2", 0), admit("low3", 0)] == [true, true, false])
        #expect([admit("high1", 1), admit("high2", 1), admit("high3", 1)] == [true, true, false])
        queues.release("low1", priority: 0)
        #expect(queues.next() == nil, "three elements of priority 0 or higher still run")
        queues.release("high1", priority: 1)
        #expect(queues.next() == "high3")
        for (host, priority) in [("high2", 1), ("high3", 1)] { queues.release(host, priority: priority) }
        #expect(queues.next() == "low3")
        queues.move(from: 0, to: 1)
        queues.move(from: 0, to: 1)
        #expect(!admit("high4", 1))
        queues.maxRunning = 3
        #expect(queues.next() == "high4")
    }

    @Test func hostsOfOneOrderTakeTurns() {
        var queues = HostQueues<String>(limit: 1, maxRunning: 1)
        for element in ["a1", "b1", "a2", "b2", "a3"] { _ = queues.admit(element, host: String(element.prefix(1))) }
        var released: [String] = []
        var host = "a"
        for _ in 0..<4 {
            queues.release(host, priority: 0)
            guard let next = queues.next() else { break }
            released.append(next)
            host = String(next.prefix(1))
        }
        #expect(released == ["b1", "a2", "b2", "a3"])
    }
}

@Suite struct HeaderSizeTests {
    /// One line that is too long, and several lines that are too long together.
    @Test(arguments: [(120_000, 1), (60_000, 6)]) func replyWithAHugeHeaderIsTooLarge(bytes: Int, lines: Int)
        async throws
    {
        let headers = (0..<lines).map { "X-Filler-\($0): \(String(repeating: "a", count: bytes))" }
        let server = try HostileServer(["/photo.jpg": .answer(headers: headers, body: [1, 2, 3])])
        defer { server.stop() }
        let engine = TransferEngine(.local())
        defer { engine.shutdown() }
        let error = await engine.fetch(server.url("/photo.jpg")).error
        #expect(error?.code == .tooLarge, "\(String(describing: error))")
        #expect(error?.detail.contains("header") == true)
    }
}

@Suite struct RetryPolicyTests {
    @Test(arguments: [
        TransferError.Code.nameNotFound, .connectFailed, .timeout, .stalled, .truncated, .httpServerError(500),
        .httpServerError(503), .httpClientError(408), .httpClientError(425), .httpClientError(429),
    ])
    func retriesTemporaryFaults(code: TransferError.Code) {
        #expect(RetryPolicy.isPassing(code))
    }

    @Test(arguments: [
        TransferError.Code.cancelled, .notAURL, .schemeDenied, .addressDenied, .tlsFailed, .httpClientError(404),
        .httpClientError(400), .tooManyRedirects, .tooLarge, .fileDenied, .fileNotFound, .outOfMemory, .other,
    ])
    func doesNotRetryLastingFaults(code: TransferError.Code) {
        #expect(!RetryPolicy.isPassing(code))
    }

    @Test func pausesDoubleWithFullJitter() {
        var generator = SystemRandomNumberGenerator()
        for (attempt, ceiling) in [(1, 200), (2, 400), (3, 800), (9, 51_200), (30, 51_200)] {
            let pauses = (0..<500).map { _ in RetryPolicy.pause(after: attempt, retryAfter: nil, using: &generator) }
            #expect(pauses.allSatisfy { $0 >= .zero && $0 <= .milliseconds(ceiling) })
            #expect(
                pauses.contains { $0 < .milliseconds(ceiling / 4) }
                    && pauses.contains { $0 > .milliseconds(ceiling / 4 * 3) })
        }
    }

    @Test(arguments: [(-5, 0), (0, 0), (7, 7), (60, 60), (3600, 60)])
    func waitsForRetryAfterUpToAMinute(seconds: Int, granted: Int) {
        var generator = SystemRandomNumberGenerator()
        let pause = RetryPolicy.pause(after: 1, retryAfter: .seconds(seconds), using: &generator)
        #expect(pause >= .seconds(granted) && pause <= .seconds(granted) + .milliseconds(200))
    }
}
