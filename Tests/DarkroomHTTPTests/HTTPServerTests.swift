import DarkroomConcurrency
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomHTTP

/// Answers requests by their path.
private final class TestService: HTTPService {
    let scratch: ScratchFolder
    /// Requests to `/held`, in their order.
    let held = Locked<[HTTPExchange]>([])
    let streams = Locked<[ResponseStream]>([])
    /// Counts events that tests wait for.
    let events = Locked<[String: Int]>([:])
    let changed = Signal()

    init() throws { scratch = try ScratchFolder() }

    func note(_ event: String) {
        events.withLock { $0[event, default: 0] += 1 }
        changed.raise()
    }

    /// Waits until an event has occurred `count` times; false after 10 s.
    func wait(for event: String, count: Int = 1) -> Bool {
        let end = ContinuousClock.now + .seconds(10)
        while events.withLock({ $0[event, default: 0] }) < count {
            guard .now < end else { return false }
            changed.wait(timeout: end - .now)
        }
        return true
    }

    func knows(_ request: HTTPRequest) -> Bool { request.headers["authorization"] != nil }

    func accept(_ request: HTTPRequest) -> BodyRule {
        switch request.target.path.first {
        case "denied": .refused(HTTPResponse(status: 403, text: "denied\n"))
        case "memory": .memory(maxBytes: 1000)
        case "file": .file(folder: scratch.path, maxBytes: 100_000)
        case "lost": .file(folder: scratch.path + "/missing", maxBytes: 100_000)
        default: .none
        }
    }

    func answer(_ exchange: HTTPExchange) {
        let request = exchange.request
        switch request.target.path.first {
        case "memory":
            guard case .bytes(let bytes) = request.body else { return }
            exchange.respond(HTTPResponse(status: 200, text: "\(bytes.count) bytes\n"))
        case "file":
            guard case .file(let file) = request.body, let bytes = FileManager.default.contents(atPath: file.path)
            else { return }
            let sum = bytes.reduce(0) { $0 &+ Int($1) }
            exchange.respond(HTTPResponse(status: 200, text: "\(bytes.count) bytes, sum \(sum)\n"))
        case "held":
            held.withLock { $0.append(exchange) }
            note("held")
        case "forgotten": break
        case "stream":
            let stream = newStream()
            exchange.respond(HTTPResponse(headers: [("Content-Type", "text/event-stream")], body: .stream(stream)))
            note("stream")
        case "sent":
            let descriptor = open("/dev/zero", O_RDONLY)
            exchange.respond(HTTPResponse(body: .file(FileBody(descriptor: descriptor, size: 3))))
        case "vast":
            exchange.respond(HTTPResponse(body: .file(FileBody(descriptor: open("/dev/zero", O_RDONLY), size: .max))))
        case "large": exchange.respond(HTTPResponse(body: .bytes([UInt8](repeating: 65, count: 50_000_000))))
        case "split":
            exchange.respond(HTTPResponse(status: 200, headers: [("X-Name", "a\r\nX-Forged: b\u{0}")]))
        default:
            let text = (request.target.query.map { "\($0.name)=\($0.value)" } + request.repeatedHeaders.sorted())
                .joined(separator: " ")
            exchange.respond(HTTPResponse(status: 200, text: "\(request.method.rawValue) \(request.client) \(text)\n"))
        }
    }

    func error(_ status: Int, _ text: String) -> HTTPResponse { HTTPResponse(status: status, text: text) }

    /// A stream whose events are noted.
    func newStream() -> ResponseStream {
        let stream = ResponseStream(onReady: { [self] in note("ready") }, onEnd: { [self] in note("end") })
        streams.withLock { $0.append(stream) }
        return stream
    }
}

@Suite(.timeLimit(.minutes(5)))
struct HTTPServerTests {
    private let service: TestService
    let server: HTTPServer

    init() throws {
        var limits = HTTPServerLimits()
        limits.patience = .seconds(1)
        service = try TestService()
        server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
    }

    private func fetch(_ request: String) throws -> String {
        try RawClient.fetch(request, port: server.address.port)
    }

    private func get(_ path: String) throws -> String {
        try fetch("GET \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    }

    // MARK: - Requests and responses

    @Test func queryReachesTheService() throws {
        let response = try get("/echo?name=%3Cb%3E&index=7")
        #expect(response.hasPrefix("HTTP/1.1 200"))
        #expect(response.hasSuffix("GET 127.0.0.1 name=<b> index=7\n"))
    }

    @Test func headHasNoBody() throws {
        let response = try fetch("HEAD /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 200"))
        #expect(response.contains("Content-Length: 16"))
        #expect(response.hasSuffix("\r\n\r\n"))
    }

    @Test func connectionServesSeveralRequests() throws {
        let client = try RawClient(port: server.address.port)
        for _ in 0..<3 {
            client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.read(until: "GET 127.0.0.1 \n").hasPrefix("HTTP/1.1 200"))
        }
        client.send("GET /denied HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(until: "denied\n").hasPrefix("HTTP/1.1 403"))
        client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.read(until: "GET 127.0.0.1 \n").hasPrefix("HTTP/1.1 200"))
    }

    @Test func responseMayComeLater() throws {
        let client = try RawClient(port: server.address.port)
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(service.wait(for: "held"))
        #expect(try get("/echo").hasPrefix("HTTP/1.1 200"))
        let exchange = try #require(service.held.withLock { $0.popLast() })
        exchange.respond(HTTPResponse(status: 200, text: "at last\n"))
        exchange.respond(HTTPResponse(status: 500, text: "too late\n"))
        #expect(client.read(until: "at last\n").hasPrefix("HTTP/1.1 200"))
    }

    @Test func requestWithoutResponseGetsAnError() throws {
        #expect(try get("/forgotten").hasPrefix("HTTP/1.1 500"))
    }

    @Test func headerValueCannotAddAHeader() throws {
        let response = try get("/split")
        #expect(response.contains("X-Name: a??X-Forged: b?\r\n"))
    }

    @Test func fileThatIsShorterThanDeclaredEndsTheConnection() throws {
        #expect(try get("/sent").hasSuffix("\r\n\r\n\0\0\0"))
    }

    @Test(arguments: ["/a%2f", "/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/a%00b", "*"])
    func unusableTargetIsRefused(target: String) throws {
        #expect(try get(target).hasPrefix("HTTP/1.1 400"))
    }

    @Test func unknownMethodIsRefused() throws {
        let response = try fetch("BREW /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 501"))
    }

    @Test(arguments: ["Host: b", "Origin: a\r\nOrigin: b", "Authorization: a\r\nAuthorization: b"])
    func repeatedFieldIsRefused(fields: String) throws {
        let response = try fetch("GET /echo HTTP/1.1\r\nHost: a\r\n\(fields)\r\nConnection: close\r\n\r\n")
        #expect(response.hasPrefix("HTTP/1.1 400"))
    }

    /// A service must not trust a field which a client has added to the field of a proxy.
    @Test func serviceKnowsWhichFieldsOccurSeveralTimes() throws {
        let response = try fetch(
            "GET /echo HTTP/1.1\r\nHost: a\r\nX-User: a\r\nX-Other: a\r\nx-user: b\r\nConnection: close\r\n\r\n")
        #expect(response.hasSuffix("GET 127.0.0.1 x-user\n"))
    }

    // MARK: - Bodies

    @Test(arguments: [0, 1, 1000])
    func bodyInMemoryIsComplete(size: Int) throws {
        let body = String(repeating: "x", count: size)
        let response = try fetch(
            "POST /memory HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n\(body)")
        #expect(response.hasSuffix("\(size) bytes\n"))
    }

    @Test func bodiesInMemoryAreBoundedTogether() throws {
        var limits = HTTPServerLimits()
        limits.bodyBytes = 1500
        let server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        let head =
            "POST /memory HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 900\r\nExpect: 100-continue\r\n\r\n"
        let body = String(repeating: "x", count: 900)
        let first = try RawClient(port: server.address.port)
        first.send(head)
        #expect(first.read(until: "100 Continue\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        #expect(try RawClient.fetch(head, port: server.address.port).hasPrefix("HTTP/1.1 503"))
        first.send(body)
        #expect(first.read().hasSuffix("900 bytes\n"))
        #expect(try RawClient.fetch(head + body, port: server.address.port).hasSuffix("900 bytes\n"))
    }

    @Test func bodyInAFileIsCompleteAndRemoved() throws {
        let body = String(repeating: "ab", count: 50_000)
        let response = try fetch(
            "POST /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n\(body)")
        #expect(response.hasSuffix("100000 bytes, sum \(50_000 * (97 + 98))\n"))
        server.stop()
        #expect(try service.scratch.contents("") == [])
    }

    @Test func bodiesInFilesAreBounded() throws {
        var limits = HTTPServerLimits()
        limits.bodyFiles = 1
        let server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        let head = "POST /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n"
        let first = try RawClient(port: server.address.port)
        first.send(head + "Expect: 100-continue\r\n\r\n")
        #expect(first.read(until: "100 Continue\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        #expect(try RawClient.fetch(head + "\r\nabc", port: server.address.port).hasPrefix("HTTP/1.1 503"))
        first.send("abc")
        #expect(first.read().contains("3 bytes"))
        #expect(try RawClient.fetch(head + "\r\nabc", port: server.address.port).contains("3 bytes"))
    }

    @Test(arguments: ["/echo", "/memory", "/denied", "/lost"])
    func tooLargeBodyIsRefusedBeforeItIsSent(path: String) throws {
        let response = try fetch("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n")
        #expect(response.firstMatch(of: #/HTTP/1.1 (413|403|507)/#) != nil)
    }

    @Test func endlessBodyEndsTheConnection() throws {
        let client = try RawClient(port: server.address.port)
        client.send("POST /memory HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = "400\r\n" + String(repeating: "x", count: 1024) + "\r\n"
        for _ in 0..<10 { client.send(chunk) }
        #expect(client.waitForClose())
        #expect(try get("/echo").hasPrefix("HTTP/1.1 200"))
    }

    @Test func abandonedUploadIsRemoved() throws {
        do {
            let client = try RawClient(port: server.address.port)
            client.send("POST /file HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
            client.send("def")
            try waitUntil("the body is being written") { try !service.scratch.contents("").isEmpty }
        }
        server.stop()
        #expect(try service.scratch.contents("") == [])
    }

    // MARK: - Streams

    @Test func streamSendsMessagesInOrder() throws {
        let client = try RawClient(port: server.address.port)
        client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(service.wait(for: "stream"))
        let stream = try #require(service.streams.withLock { $0.last })
        for number in 1...5 {
            #expect(stream.offer(Array("data: \(number)\n\n".utf8)))
            #expect(service.wait(for: "ready", count: number))
        }
        stream.finish()
        #expect(!stream.offer([1]))
        let text = client.read(until: "\r\n0\r\n\r\n")
        let numbers = text.matches(of: #/data: (\d)/#).map { String($0.1) }
        #expect(numbers == ["1", "2", "3", "4", "5"])
        #expect(service.wait(for: "end"))
        #expect(stream.hasEnded)
    }

    @Test func streamOfAStalledClientRefusesMessagesAndIsClosed() throws {
        let client = try RawClient(port: server.address.port, receiveBuffer: 4096)
        client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(service.wait(for: "stream"))
        let stream = try #require(service.streams.withLock { $0.last })
        #expect(stream.offer([UInt8](repeating: 65, count: 20_000_000)))
        #expect(!stream.offer([1]))
        #expect(!stream.isReady)
        #expect(service.wait(for: "end"))
        #expect(!stream.offer([1]))
    }

    @Test func streamNoticesThatTheClientHasLeft() throws {
        do {
            let client = try RawClient(port: server.address.port)
            client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(service.wait(for: "stream"))
        }
        let stream = try #require(service.streams.withLock { $0.last })
        #expect(service.wait(for: "end"))
        #expect(stream.hasEnded)
    }

    @Test func streamThatIsNotSentEnds() throws {
        let client = try RawClient(port: server.address.port)
        client.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(service.wait(for: "held"))
        let exchange = try #require(service.held.withLock { $0.popLast() })
        client.reset()
        exchange.respond(HTTPResponse(body: .stream(service.newStream())))
        #expect(service.wait(for: "end"))
    }

    // MARK: - Slow clients

    @Test func steadyUploadMayTakeLong() throws {
        let client = try RawClient(port: server.address.port)
        client.send("POST /file HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
        for _ in 0..<30 {
            client.send([UInt8](repeating: 1, count: 2000))
            usleep(100_000)  // the rate of the client; the upload takes three times its patience
        }
        client.read(until: "60000 bytes, sum 60000\n")
    }

    @Test func fileOfAnySizeHasADeadline() throws {
        let client = try RawClient(port: server.address.port, receiveBuffer: 4096)
        client.send("GET /vast HTTP/1.1\r\nHost: a\r\n\r\n")
        client.read(until: "Content-Length: \(Int.max)\r\n")
        server.core.connections.enforce()
        #expect(try get("/echo").hasPrefix("HTTP/1.1 200"))
    }

    @Test(arguments: [
        "", "GET /echo HT", "GET /echo HTTP/1.1\r\nHost: a\r\nX: ",
        "POST /memory HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
    ])
    func clientThatSendsAByteNowAndThenIsClosed(beginning: String) throws {
        let client = try RawClient(port: server.address.port)
        client.send(beginning)
        let began = ContinuousClock.now
        while .now - began < .seconds(60) {
            client.send("a")
            if client.waitForClose(timeout: 1) { break }
        }
        #expect(.now - began < .seconds(50))
    }

    @Test func clientThatDoesNotReadIsClosed() throws {
        let client = try RawClient(port: server.address.port, receiveBuffer: 4096)
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        try waitUntil("the server has accepted the connection") { server.connectionCount > 0 }
        try waitUntil("the server has closed the connection") { server.connectionCount == 0 }
    }

    @Test func hugeHeadIsRefused() throws {
        let head = "GET /echo HTTP/1.1\r\nHost: a\r\nX-Large: \(String(repeating: "x", count: 100_000))\r\n\r\n"
        let response = try fetch(head)
        #expect(response.isEmpty || response.hasPrefix("HTTP/1.1 4"))
        #expect(try get("/echo").hasPrefix("HTTP/1.1 200"))
    }

    @Test func idleConnectionsMakeRoomForOthers() throws {
        var limits = HTTPServerLimits()
        limits.connections = 40
        limits.patience = .seconds(60)
        let server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        let idle = try (0..<60).map { _ in try RawClient(port: server.address.port) }
        let response = try RawClient.fetch(
            "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: server.address.port)
        #expect(response.hasPrefix("HTTP/1.1 200"))
        withExtendedLifetime(idle) {}
    }

    /// Clients that the service does not know, and that do not end their requests or do not read.
    @Test(arguments: [
        "", "POST /memory HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab", "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
    ])
    func strangersMakeRoomForOthers(beginning: String) throws {
        var limits = HTTPServerLimits()
        limits.connections = 100
        limits.patience = .seconds(60)
        limits.patienceWithStrangers = .seconds(60)
        let server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        var strangers: [RawClient] = []
        for _ in 0..<130 {
            strangers.append(try RawClient(port: server.address.port, receiveBuffer: 4096))
            strangers.last?.send(beginning)
        }
        let response = try RawClient.fetch(
            "GET /echo HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n",
            port: server.address.port)
        #expect(response.hasPrefix("HTTP/1.1 200"))
        withExtendedLifetime(strangers) {}
    }

    @Test func strangersHaveLessTimeThanKnownClients() throws {
        var limits = HTTPServerLimits()
        limits.patience = .seconds(60)
        limits.patienceWithStrangers = .seconds(1)
        let server = try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), limits: limits)
        let known = try RawClient(port: server.address.port)
        known.send("POST /memory HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nContent-Length: 3\r\n\r\na")
        let stranger = try RawClient(port: server.address.port)
        stranger.send("POST /memory HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na")
        #expect(stranger.waitForClose(timeout: 50))
        known.send("bc")
        known.read(until: "3 bytes\n")
    }

    // MARK: - Start and stop

    @Test func stopWaitsForResponsesAndEndsStreams() throws {
        let streaming = try RawClient(port: server.address.port)
        streaming.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        let waiting = try RawClient(port: server.address.port)
        waiting.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(service.wait(for: "stream"))
        #expect(service.wait(for: "held"))
        let exchange = try #require(service.held.withLock { $0.popLast() })
        let stopping = OwnedThread("stop") { [server] in server.stop() }
        #expect(service.wait(for: "end"))
        #expect(!stopping.join(timeout: .milliseconds(100)))
        exchange.respond(HTTPResponse(status: 200, text: "made\n"))
        stopping.join()
        #expect(throws: (any Error).self) { try RawClient(port: server.address.port) }
    }

    @Test func addressInUseIsAnError() throws {
        let error = try requireError(HTTPServerError.self) { try HTTPServer(service, at: server.address) }
        #expect(
            error.description
                == "cannot listen on \(server.address): Address already in use; choose another address or port")
    }

    @Test func certificateThatIsNoneIsAnError() throws {
        let none = ServerCertificate(chain: "none", key: "none")
        let error = try requireError(HTTPServerError.self) {
            try HTTPServer(service, at: ListenAddress(host: "127.0.0.1", port: 0), certificate: none)
        }
        #expect(error.description.contains("certificate file"))
    }
}

struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80"), ("80", "127.0.0.1:80"), (":80", "127.0.0.1:80"),
        ("localhost", "127.0.0.1:8080"), ("localhost:0", "127.0.0.1:0"), ("0.0.0.0", "0.0.0.0:8080"),
        ("[::1]:80", "[::1]:80"), ("[::]", "[::]:8080"),
    ])
    func addressIsParsed(text: String, expected: String) {
        #expect(ListenAddress(text, defaultPort: 8080)?.description == expected)
    }

    @Test(arguments: [
        "", "::1", "::1:80", "[::1", "[::1]80", "[127.0.0.1]:80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:a", "example.com", "256.0.0.1", "a b",
    ])
    func otherTextIsRefused(text: String) {
        #expect(ListenAddress(text, defaultPort: 8080) == nil)
    }

    @Test func loopbackIsRecognized() {
        #expect(ListenAddress("127.1.2.3:1", defaultPort: 1)?.isLoopback == true)
        #expect(ListenAddress("[::1]:1", defaultPort: 1)?.isLoopback == true)
        #expect(ListenAddress("0.0.0.0:1", defaultPort: 1)?.isLoopback == false)
        #expect(ListenAddress("[::]:1", defaultPort: 1)?.isLoopback == false)
    }
}
