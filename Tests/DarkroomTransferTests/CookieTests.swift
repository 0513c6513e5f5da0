import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct CookieTests {
    /// The `Cookie` lines of each request.
    private func cookies(_ server: HostileServer) -> [[String]] {
        server.log.heads.map { head in
            head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("cookie:") }.map {
                String($0.dropFirst(8))
            }
        }
    }

    private func redirect(to target: String, _ cookies: String...) -> HostileServer.Route {
        .answer(status: 302, headers: ["Location: \(target)"] + cookies.map { "Set-Cookie: \($0)" })
    }

    /// A configuration in which all names lead to `server`.
    private func configuration(
        _ server: HostileServer, _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) -> TransferConfiguration {
        .local {
            $0.connectTo = ["::127.0.0.1:\(server.port)"]
            change(&$0)
        }
    }

    @Test func redirectsSendCookiesBackAndThenForgetThem() async throws {
        let server = try HostileServer([
            "/a": redirect(to: "/b", "a=1; HttpOnly", "gone=1", "path=1; Path=/other"),
            "/b": redirect(to: "/c", "b=2; Max-Age=60", "gone=; Max-Age=0"), "/c": .answer(body: [1]),
        ])
        let engine = TransferEngine(.local())
        for _ in 0..<2 { #expect(await engine.fetch(server.url("/a")).body == [1]) }
        #expect(await engine.fetch(server.url("/c")).body == [1])
        let lines = cookies(server).map { $0.map { Set($0.split(separator: "; ")) } }
        #expect(
            lines == [[], [["a=1", "gone=1"]], [["a=1", "b=2"]], [], [["a=1", "gone=1"]], [["a=1", "b=2"]], []])
    }

    @Test func nextAttemptHasNoCookies() async throws {
        let server = try HostileServer([
            "/a": redirect(to: "/b", "a=1"), "/b": .inTurn([.answer(status: 500), .answer(body: [1])]),
        ])
        let download = try await TransferEngine(.local { $0.retries = 1 }).fetch(server.url("/a")).get()
        #expect(download.attempts == 2)
        #expect(cookies(server) == [[], ["a=1"], [], ["a=1"]])
    }

    @Test func otherHostsGetNoCookies() async throws {
        let server = try HostileServer([
            "/a": redirect(
                to: "http://b.photos.example/b", "own=1", "site=2; Domain=photos.example", "evil=3; Domain=example",
                "evil=4; Domain=victim.example", "evil=5; Domain=b.photos.example", "evil=6; Secure"),
            "/b": redirect(to: "http://a.photos.example/c"), "/c": redirect(to: "http://victim.example/d"),
            "/d": .answer(body: [1]),
        ])
        let engine = TransferEngine(configuration(server))
        #expect(await engine.fetch("http://a.photos.example/a").body == [1])
        let lines = cookies(server).map { $0.map { Set($0.split(separator: "; ")) } }
        #expect(lines == [[], [["site=2"]], [["own=1", "site=2"]], []])
    }

    /// `co.uk` is in the public suffix list.
    @Test func cookieForAPublicSuffixIsRefused() async throws {
        let server = try HostileServer([
            "/a": redirect(to: "http://b.co.uk/b", "evil=1; Domain=co.uk"), "/b": .answer(body: [1]),
        ])
        #expect(await TransferEngine(configuration(server)).fetch("http://a.co.uk/a").body == [1])
        #expect(cookies(server) == [[], []])
    }

    @Test func cookiesOfTheUserAreSentInTheSameLine() async throws {
        let server = try HostileServer([
            "/a": redirect(to: "/b", "a=1"), "/b": redirect(to: "http://other.example/c"), "/c": .answer(body: [1]),
        ])
        let header = try RequestHeader(parsing: "http://home.example=Cookie: own=2; more=3")
        let engine = TransferEngine(configuration(server) { $0.headers = [header] })
        #expect(await engine.fetch("http://home.example/a").body == [1])
        #expect(cookies(server) == [["own=2; more=3"], ["a=1; own=2; more=3"], []])
    }

    @Test func manyAndLargeCookiesAreBounded() async throws {
        let value = String(repeating: "x", count: 3000)
        let many = (0..<60).map { "Set-Cookie: c\($0)=\(value)" } + (0..<1000).map { "Set-Cookie: d\($0)=1" }
        let server = try HostileServer([
            "/a": .answer(status: 302, headers: ["Location: /b"] + many),
            "/b": .answer(status: 302, headers: ["Location: /c"] + many.reversed()), "/c": .answer(body: [1]),
        ])
        #expect(await TransferEngine(.local()).fetch(server.url("/a")).body == [1])
        #expect(server.log.heads.count == 3 && server.log.heads.allSatisfy { $0.utf8.count < 10_000 })
        #expect(cookies(server).allSatisfy { $0.count <= 1 })
    }

    @Test func hostileCookiesAreHarmless() async throws {
        let server = try HostileServer([
            "/a": redirect(
                to: "/b", "ALL", "=", "", "a\tb=1", "Set-Cookie: x=1; Domain=victim.example", "b=\u{1}2",
                "FLUSH; Path=/"),
            "/b": .answer(body: [1]),
        ])
        #expect(await TransferEngine(.local()).fetch(server.url("/a")).body == [1])
        #expect(server.log.heads.count == 2)
    }
}
