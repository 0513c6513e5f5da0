import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWeb

/// Requests that no browser sends, over raw sockets.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct RawRequestTests {
    private static let login = "Authorization: Bearer \(TestSite.token)\r\n"
    private let site: TestSite

    init() throws { site = try TestSite() }

    /// Sends bytes, and reads until the server closes the connection or nothing arrives for a second.
    private func exchange(_ bytes: String, timeout: Int = 1) throws -> String {
        let client = try RawClient(port: site.port)
        client.send(bytes)
        return client.read(timeout: timeout)
    }

    private func statuses(_ text: String) -> [Int] {
        text.matches(of: #/HTTP/1\.[01] (\d{3}) /#).compactMap { Int($0.1) }
    }

    // MARK: - Paths

    @Test(arguments: [
        "/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd", "/static/..%2f..%2fetc%2fpasswd",
        "/static/%252e%252e%252fetc%252fpasswd",
        "/static/..%5c..%5cetc", "/static/..\\..\\etc", "/static/%c0%ae%c0%ae/passwd", "/static/%c0%2e%c0%2e/",
        "/static/%e0%80%ae/", "/static/%f0%80%80%ae/",
        "/static//etc/passwd", "//etc/passwd", "/static/%00", "/static/style.css%00.png", "/static/%2fetc%2fpasswd",
        "/static/etc/passwd",
        "/api/v1/batches/../../../etc/passwd", "/api/v1/batches/..%2f..", "/api/v1/batches/%2e%2e",
        "/api/v1/batches/%2fetc%2fpasswd/photos/0/file",
        "/api/v1/batches/..%252f../photos", "/api/v1/batches/x/photos/..%2f0/file",
        "/api/v1/batches/x/photos/0%00/file", "/api/v1/batches/%0d%0aX:%20a",
        "/api/v1/streams/..%2f../view", "/static/\u{ff0e}\u{ff0e}/x", "/.", "/..", "/%2e", "/./", "/static/.",
        "/static/...", "/STATIC/style.css",
        "/static;/style.css", "/static/style.css/", "/static/style.css/..", "http://127.0.0.1/static/style.css", "*",
        "/?", "/static/%", "/static/%zz",
    ])
    func noPathLeadsOut(target: String) throws {
        for headers in ["", Self.login] {
            for method in ["GET", "HEAD", "PUT"] {
                let text = try exchange(
                    "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(headers)\r\n", timeout: 5
                )
                #expect(!text.contains("root:"), "\(target)")
                let isRoot = ["/?", "/static/style.css/"].contains(target)
                #expect(
                    statuses(text).allSatisfy { (400...499).contains($0) || isRoot },
                    "\(method) \(target): \(text.prefix(200))")
                #expect(!text.contains("\nX: a"))
            }
        }
    }

    @Test(arguments: [
        "?rendition=../../../etc/passwd", "?rendition=%2e%2e%2f", "?rendition=%00", "?width=1e9", "?width=-1",
        "?width=%31%30%30%30%30",
        "?width=99999999999999999999", "?width=NaN", "?first=%ff", "?name=%c0%ae",
    ])
    func noQueryLeadsOut(query: String) throws {
        let id = try site.submit()
        for path in ["photos/0/thumbnail", "photos/0/file", "photos"] {
            let reply = try site.fetch(
                "GET", "/api/v1/batches/\(id)/\(path)\(query)", headers: ["Authorization": "Bearer \(TestSite.token)"])
            let isList = path == "photos" && !query.contains("ff") && !query.contains("c0")
            #expect((400...404).contains(reply.status) || isList, "\(path)\(query): \(reply.status)")
            #expect(!reply.text.contains("root:"))
        }
    }

    // MARK: - Where requests end

    /// What a proxy might see as another request is never answered as one.
    @Test(arguments: [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 44\r\n\r\n", "Content-Length: 44\r\nContent-Length: 0\r\n\r\n",
        "Content-Length: 0, 44\r\n\r\n",
        "Content-Length: +0\r\n\r\n", "Content-Length: 0x0\r\n\r\n", "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length:\r\n\r\n", "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", "Host: other\r\n\r\n", "Bad Name: a\r\n\r\n",
        "Content-Length : 44\r\n\r\n", "Content-Length\t: 44\r\n\r\n", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    ])
    func ambiguousRequestEndsTheConnection(rest: String) throws {
        let text = try exchange(
            "POST /api/v1/suspend HTTP/1.1\r\nHost: 127.0.0.1\r\n\(Self.login)\(rest)GET /api/v1/workers HTTP/1.1\r\nHost: 127.0.0.1\r\n\(Self.login)\r\n"
        )
        #expect(!text.contains("\"workers\":["), "\(text)")
        #expect(statuses(text).allSatisfy { $0 >= 400 }, "\(text)")
        #expect(try site.json("GET", "/status")["suspended"] == .bool(false))
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let requests = (0..<50).map { number in
            "GET /api/v1/batches/batch-\(number) HTTP/1.1\r\nHost: a\r\n\(Self.login)\(number == 49 ? "Connection: close\r\n" : "")\r\n"
        }
        let text = try exchange(requests.joined(), timeout: 10)
        let answered = text.matches(of: #/"detail":".*?batch-(\d+)/#).compactMap { Int($0.1) }
        #expect(answered == Array(0..<50))
    }

    @Test func pipelinedBodyIsNotARequest() throws {
        let body = "GET /api/v1/workers HTTP/1.1\r\nHost: a\r\n\(Self.login)\r\n"
        let text = try exchange(
            "PUT /api/v1/limits HTTP/1.1\r\nHost: a\r\n\(Self.login)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body + "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", timeout: 10)
        #expect(statuses(text) == [400, 200])
    }

    // MARK: - Methods and heads

    @Test func methodsAreThoseOfTheRoutes() throws {
        for (method, status) in [
            ("OPTIONS", 501), ("TRACE", 501), ("CONNECT", 501), ("BREW", 501), ("get", 501), ("PATCH", 405),
            ("DELETE", 405), ("POST", 405),
        ] {
            let text = try exchange(
                "\(method) /api/v1/workers HTTP/1.1\r\nHost: a\r\nX-Secret: s3cret\r\nConnection: close\r\n\(Self.login)\r\n"
            )
            #expect(statuses(text) == [status], "\(method): \(text)")
            #expect(!text.contains("s3cret"))
            #expect(!text.contains("Access-Control"))
            if status == 405 { #expect(text.contains("Allow: GET, HEAD\r\n"), "\(text)") }
        }
    }

    @Test func headOfAStreamEndsAtOnce() throws {
        let id = try site.submit()
        let text = try exchange(
            "HEAD /api/v1/batches/\(id)/events HTTP/1.1\r\nHost: a\r\n\(Self.login)Connection: close\r\n\r\n",
            timeout: 5)
        #expect(statuses(text) == [200])
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test func continueIsSentOnlyIfTheBodyIsWanted() throws {
        func request(_ path: String, _ login: String) throws -> String {
            try exchange(
                "POST \(path) HTTP/1.1\r\nHost: a\r\n\(login)Content-Type: text/csv\r\nContent-Length: 4000000000\r\nExpect: 100-continue\r\n\r\n"
            )
        }
        #expect(statuses(try request("/api/v1/batches?output=a", "")) == [401])
        #expect(statuses(try request("/api/v1/batches?output=a", Self.login)) == [413])
        #expect(statuses(try request("/api/v1/nothing", Self.login)) == [404])
        let client = try RawClient(port: site.port)
        client.send(
            "PUT /api/v1/limits HTTP/1.1\r\nHost: a\r\n\(Self.login)Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(client.read(until: "100 Continue\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        client.send("{}")
        #expect(client.read(until: "invalidField").hasPrefix("HTTP/1.1 400"))
    }

    @Test(arguments: [
        "GET /healthz\r\n\r\n", "GET /healthz HTTP/0.9\r\n\r\n", "GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n",
        "\r\n\r\n\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /healthz\u{0}/../x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n",
        "GET /healthz HTTP/1.1\nHost: a\n\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\u{0}b\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
        "GET /healthz HTTP/1.1\r\rHost: a\r\r\r\r",
    ])
    func oddHeadDoesNotStopTheServer(head: String) throws {
        let client = try RawClient(port: site.port)
        client.send(head)
        client.finishSending()
        let text = client.read(timeout: 1)
        #expect(
            !text.contains("HTTP/1.1 5") || text.contains("HTTP/1.1 505") || text.contains("HTTP/1.1 501"), "\(text)")
        #expect(try site.fetch("GET", "/healthz").status == 200)
    }

    @Test func hugeHeadsAreRefused() throws {
        let many = (0..<20_000).map { "X-\($0): a\r\n" }.joined()
        for head in [
            "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\n\(many)\r\n",
            "GET /healthz?\(String(repeating: "a=b&", count: 30_000)) HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: \(String(repeating: "a", count: 100_000))\r\n\r\n",
        ] {
            let text = try exchange(head)
            #expect(statuses(text).allSatisfy { (400...431).contains($0) }, "\(text.prefix(100))")
        }
        // Browsers may send cookies of other servers of this host.
        let cookie = "other=" + String(repeating: "a", count: 12_000)
        #expect(try site.fetch("GET", "/healthz", headers: ["Cookie": cookie]).status == 200)
    }
}
