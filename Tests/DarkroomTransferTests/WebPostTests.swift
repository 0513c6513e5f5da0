import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct WebPostTests {
    /// Posts on a separate thread, as all callers do.
    static func post(
        _ body: String, to url: String, headers: [String] = [], timeout: Duration = .seconds(10),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) async -> Result<Int, TransferError> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let post = WebPost(headers: headers, timeout: timeout, isCancelled: isCancelled)
                continuation.resume(
                    returning: Result { () throws(TransferError) in try post.send(Array(body.utf8), to: url) })
            }
        }
    }

    private func code(_ result: Result<Int, TransferError>) -> TransferError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func sendsTheBodyAndTheHeaders() async throws {
        let server = try HostileServer(["/hook": .answer(status: 204)])
        defer { server.stop() }
        let result = await Self.post("{\"a\":1}", to: server.url("/hook"), headers: ["Content-Type: application/json"])
        #expect(try result.get() == 204)
        let head = try #require(server.log.heads.first)
        #expect(head.hasPrefix("POST /hook HTTP/1.1\r\n"))
        #expect(head.contains("\r\nContent-Type: application/json\r\n") && !head.contains("Expect"))
        #expect(server.log.bodies == [Array("{\"a\":1}".utf8)])
    }

    @Test func sendsALargeBodyAtOnce() async throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        let body = String(repeating: "x", count: 3 << 20)
        #expect(try await Self.post(body, to: server.url("/hook")).get() == 200)
        #expect(server.log.bodies == [Array(body.utf8)])
        #expect(
            server.log.heads.allSatisfy { !$0.contains("Expect") }, "the post sent Expect and waited for 100 Continue")
    }

    @Test func followsNoRedirect() async throws {
        let server = try HostileServer(["/hook": .redirect(to: "/other"), "/other": .answer()])
        defer { server.stop() }
        #expect(try await Self.post("{}", to: server.url("/hook")).get() == 302)
        #expect(server.log.requests == ["/hook": 1])
    }

    @Test func statusOfAnErrorIsReturned() async throws {
        let server = try HostileServer(["/hook": .answer(status: 503, body: Array("later".utf8))])
        defer { server.stop() }
        #expect(try await Self.post("{}", to: server.url("/hook")).get() == 503)
    }

    @Test func endlessReplyIsCutOffAndItsStatusIsReturned() async throws {
        let server = try HostileServer(["/hook": .endless])
        defer { server.stop() }
        let began = ContinuousClock.now
        #expect(try await Self.post("{}", to: server.url("/hook"), timeout: .seconds(60)).get() == 200)
        #expect(.now - began < .seconds(50), "the reply was read until the timeout")
        #expect(await server.wait { $0.departures["/hook"] == 1 })
    }

    @Test func endlessHeadIsCutOff() async throws {
        let server = try HostileServer(["/hook": .endlessHead])
        defer { server.stop() }
        #expect(try await Self.post("{}", to: server.url("/hook")).get() == 200)
        #expect(await server.wait { $0.departures["/hook"] == 1 })
    }

    @Test func serverThatNeverRepliesTimesOut() async throws {
        let server = try HostileServer(["/hook": .stall])
        defer { server.stop() }
        #expect(await code(Self.post("{}", to: server.url("/hook"), timeout: .milliseconds(200))) == .timeout)
    }

    @Test func serverThatHangsUpIsAnError() async throws {
        let server = try HostileServer(["/hook": .hangUp])
        defer { server.stop() }
        #expect(await code(Self.post("{}", to: server.url("/hook"))) == .connectFailed)
    }

    @Test func canBeCancelled() async throws {
        let server = try HostileServer(["/hook": .stall])
        defer { server.stop() }
        let cancelled = Latch()
        async let result = Self.post("{}", to: server.url("/hook"), timeout: .seconds(60)) { cancelled.isSet }
        #expect(await server.wait { $0.running == 1 })
        cancelled.set()
        let began = ContinuousClock.now
        #expect(await code(result) == .cancelled)
        #expect(.now - began < .seconds(50), "the post continued until the timeout")
    }

    @Test func refusesOtherSchemes() async throws {
        let result = await Self.post("{}", to: "file:///etc/passwd")
        #expect(code(result) != nil)
    }

}

@Suite struct OriginTests {
    @Test(arguments: [
        ("http://Hooks.Example.ORG/a?b", "http", "hooks.example.org", 80),
        ("https://x.example./", "https", "x.example", 443), ("http:///x.example/", "http", "x.example", 80),
        ("https://user:pass@x.example:8443/h", "https", "x.example", 8443), ("http://0x7f.1/", "http", "127.0.0.1", 80),
        ("http://[::1]:8080/", "http", "[::1]", 8080), ("http://a.example@b.example/", "http", "b.example", 80),
    ])
    func originIsTheHostThatLibcurlConnectsTo(_ url: String, _ scheme: String, _ host: String, _ port: Int) throws {
        let origin = try #require(Origin(url: url))
        #expect(origin.scheme == scheme && origin.host == host && origin.port == port)
    }

    @Test(arguments: ["", "no url", "ftp://x.example/", "file:///etc/passwd", "http://", "http://x:99999/"])
    func otherTextHasNoOrigin(_ url: String) { #expect(Origin(url: url) == nil) }
}
