import Testing

@testable import DarkroomTransfer

@Suite struct TransferURLTests {
    @Test(arguments: [
        ("http://Example.org/a.jpg", "http://Example.org/a.jpg", "example.org"),
        ("HTTPS://example.org:8443/a?b=c", "https://example.org:8443/a?b=c", "example.org"),
        ("http://example.org/a b/\u{e9}.jpg", "http://example.org/a%20b/%c3%a9.jpg", "example.org"),
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
    func refusesWhatIsNoURL(text: String) {
        let refusal = #expect(throws: Refusal.self) { try TransferURL(parsing: text) }
        #expect(refusal?.code == .notAURL)
    }

    @Test(arguments: ["ftp://example.org/a.jpg", "gopher://example.org/", "s3://bucket/key"])
    func refusesOtherSchemes(text: String) {
        let refusal = #expect(throws: Refusal.self) { try TransferURL(parsing: text) }
        #expect(refusal?.code == .schemeDenied)
    }
}

@Suite struct HostQueuesTests {
    @Test func runsAsManyOfAHostAsAllowedAndTheOthersInOrder() {
        var queues = HostQueues<Int>(limit: 2)
        let admitted = [1, 2, 3, 4].map { queues.admit($0, host: "a") }
        #expect(admitted == [true, true, false, false])
        let other = queues.admit(5, host: "b")
        #expect(other)
        let released = (0..<3).map { _ in queues.release("a") { _ in true } }
        #expect(released == [3, 4, nil])
        let again = [6, 7].map { queues.admit($0, host: "a") }
        #expect(again == [true, false])
    }

    @Test func passesOverThoseNoLongerWanted() {
        var queues = HostQueues<Int>(limit: 1)
        for element in [1, 2, 3] { _ = queues.admit(element, host: "a") }
        let next = queues.release("a") { $0 != 2 }
        #expect(next == 3)
    }

    @Test func hasNoLimitUnlessTold() {
        var queues = HostQueues<Int>(limit: nil)
        let admitted = (0..<1000).filter { queues.admit($0, host: "a") }
        #expect(admitted.count == 1000)
    }
}

@Suite struct RetryPolicyTests {
    @Test(arguments: [
        TransferError.Code.nameNotFound, .connectFailed, .timeout, .stalled, .truncated, .httpServerError(500),
        .httpServerError(503), .httpClientError(408), .httpClientError(425), .httpClientError(429),
    ])
    func triesAgainWhatMayPass(code: TransferError.Code) {
        #expect(RetryPolicy.isPassing(code))
    }

    @Test(arguments: [
        TransferError.Code.cancelled, .notAURL, .schemeDenied, .addressDenied, .tlsFailed, .httpClientError(404),
        .httpClientError(400), .tooManyRedirects, .tooLarge, .fileNotFound, .outOfMemory, .other,
    ])
    func failsAtOnceOtherwise(code: TransferError.Code) {
        #expect(!RetryPolicy.isPassing(code))
    }

    @Test func pausesLongerAndLongerWithFullJitter() {
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
    func waitsAsTheServerAskedUpToAMinute(seconds: Int, granted: Int) {
        var generator = SystemRandomNumberGenerator()
        let pause = RetryPolicy.pause(after: 1, retryAfter: .seconds(seconds), using: &generator)
        #expect(pause >= .seconds(granted) && pause <= .seconds(granted) + .milliseconds(200))
    }
}
