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
        .optedOut,
    ])
    func doesNotRetryLastingFaults(code: TransferError.Code) {
        #expect(!RetryPolicy.isPassing(code))
    }

    @Test func pausesGrowWithJitter() {
        var generator = SystemRandomNumberGenerator()
        let policy = RetryPolicy(TransferConfiguration())
        for (failures, longest) in [(1, 1), (2, 5), (3, 20), (4, 60), (9, 60)] {
            let pauses = (0..<500).map { _ in policy.pause(after: failures, using: &generator) / .seconds(longest) }
            #expect(pauses.allSatisfy { (0.5...1).contains($0) })
            #expect(pauses.contains { $0 < 0.6 } && pauses.contains { $0 > 0.9 })
        }
    }

    @Test func attemptsEndAfterTheirNumberOrTime() {
        var configuration = TransferConfiguration()
        let policy = RetryPolicy(configuration)
        #expect(policy.allows(4, passed: .seconds(26)))
        #expect(!policy.allows(4, passed: .seconds(31)))
        configuration.retries = 2
        #expect(RetryPolicy(configuration).allows(2, passed: .zero))
        #expect(!RetryPolicy(configuration).allows(3, passed: .zero))
    }
}
