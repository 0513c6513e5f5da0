import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct TransferEngineTests {
    static let photo = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test func returnsTheBody() async throws {
        let server = try HostileServer(["/a.jpg": .answer(headers: ["Content-Type: image/jpeg"], body: Self.photo)])
        let engine = TransferEngine(
            .local {
                $0.headers = [RequestHeader("X-Test: yes")]
                $0.userAgent = "darkroom/test"
            })
        let download = try await engine.fetch(server.url("/a.jpg")).get()
        #expect(download.body == Self.photo)
        #expect(download.attempts == 1)
        #expect(download.duration > .zero && download.duration < .seconds(20))
        let head = try #require(server.log.heads.first)
        #expect(head.contains("X-Test: yes\r\n") && head.contains("User-Agent: darkroom/test\r\n"))
    }

    @Test func acceptsUndeclaredChunkedAndEmptyBodies() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n"
        let server = try HostileServer([
            "/undeclared": .undeclared(body: Self.photo), "/chunked": .raw(Array(chunked.utf8)), "/empty": .answer(),
            "/drip": .drip(body: Array("drop by drop".utf8), pause: .milliseconds(1)),
        ])
        let engine = TransferEngine(.local())
        #expect(await engine.fetch(server.url("/undeclared")).body == Self.photo)
        #expect(await engine.fetch(server.url("/chunked")).body == Array("abcdefg".utf8))
        #expect(await engine.fetch(server.url("/empty")).body == [])
        #expect(await engine.fetch(server.url("/drip")).body == Array("drop by drop".utf8))
    }

    @Test(arguments: ["/declared", "/undeclared", "/endless", "/promised", "/headers"])
    func refusesBodiesThatAreTooLarge(path: String) async throws {
        let server = try HostileServer([
            "/declared": .answer(body: Self.photo), "/undeclared": .undeclared(body: Self.photo), "/endless": .endless,
            "/promised": .stallHalfWay(body: [1], declared: 1 << 40), "/headers": .endlessHead,
        ])
        let engine = TransferEngine(.local { $0.maxBytes = Self.photo.count - 1 })
        let error = await engine.fetch(server.url(path)).error
        #expect(error?.code == .tooLarge)
        #expect(error?.attempts == 1)
        if path != "/declared" && path != "/undeclared" {
            #expect(await server.wait { $0.departures[path] == 1 })
        }
    }

    @Test func acceptsBodiesOfExactlyTheLargestSize() async throws {
        let server = try HostileServer(["/a": .answer(body: Self.photo), "/b": .undeclared(body: Self.photo)])
        let engine = TransferEngine(.local { $0.maxBytes = Self.photo.count })
        #expect(await engine.fetch(server.url("/a")).body == Self.photo)
        #expect(await engine.fetch(server.url("/b")).body == Self.photo)
    }

    @Test(arguments: [
        ("/404", TransferError.Code.httpClientError(404)), ("/410", .httpClientError(410)),
        ("/page", .httpClientError(403)), ("/503", .httpServerError(503)), ("/304", .other), ("/cut", .truncated),
        ("/hangup", .connectFailed), ("/reset", .connectFailed), ("/garbage", .other), ("/stall", .stalled),
        ("/half", .stalled), ("/drip", .timeout), ("/loop", .tooManyRedirects), ("/ftp", .schemeDenied),
        ("/file", .schemeDenied), ("/badchunk", .truncated),
    ])
    func reportsEachFaultWithItsCode(path: String, code: TransferError.Code) async throws {
        let server = try HostileServer([
            "/404": .answer(status: 404, body: Array("<html>".utf8)), "/410": .answer(status: 410),
            "/page": .answer(status: 403, body: [UInt8](repeating: 32, count: 2 << 20)),
            "/503": .answer(status: 503), "/304": .answer(status: 304),
            "/cut": .closeHalfWay(body: [1, 2, 3], declared: 100),
            "/hangup": .hangUp, "/reset": .reset, "/garbage": .raw(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)),
            "/stall": .stall, "/half": .stallHalfWay(body: [1, 2, 3], declared: 100),
            "/drip": .drip(body: [UInt8](repeating: 1, count: 1000), pause: .milliseconds(20)),
            "/loop": .redirect(to: "/loop"), "/ftp": .redirect(to: "ftp://127.0.0.1/x"),
            "/file": .redirect(to: "file:///etc/hostname"),
            "/badchunk": .raw(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nxyz\r\n".utf8)),
        ])
        let engine = TransferEngine(
            .local {
                if code == .stalled { $0.stallTimeout = .milliseconds(200) }
                if code == .timeout { $0.timeout = .seconds(2) }
                $0.maxRedirects = 3
                $0.fileFolders = ["/etc"]
            })
        let error = await engine.fetch(server.url(path)).error
        #expect(error?.code == code, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        #expect(error?.detail.isEmpty == false)
        if path == "/loop" { #expect(server.log.requests == ["/loop": 4]) }
        if [.stalled, .timeout].contains(code) { #expect(await server.wait { $0.departures[path] == 1 }) }
    }

    @Test(
        arguments: [
            ("NO URL", .notAURL), ("", .notAURL), ("ftp://127.0.0.1/x.jpg", .schemeDenied),
            ("file:///etc/hostname", .fileDenied),
        ] as [(String, TransferError.Code)])
    func refusesURLsWithoutAnAttempt(url: String, code: TransferError.Code) async {
        let error = await TransferEngine(.local()).fetch(url).error
        #expect(error?.code == code)
    }

    @Test func distinguishesARefusedConnectionFromAnUnknownName() async throws {
        let engine = TransferEngine(.local())
        let server = try HostileServer([:])
        let url = server.url("/")
        server.stop()
        #expect(await engine.fetch(url).error?.code == .connectFailed)
        // A label may have at most 63 characters, so no name server is asked and the test needs no network.
        let name = String(repeating: "x", count: 70) + ".invalid"
        #expect(await engine.fetch("http://\(name)/a.jpg").error?.code == .nameNotFound)
    }

    @Test func distinguishesFaultsOfTLS() async throws {
        let noTLS = try HostileServer(["hello": .raw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))])
        let silent = try HostileServer(["hello": .stall])
        let resetting = try HostileServer(["hello": .reset])
        let engine = TransferEngine(.local())
        let shortTimeout = TransferEngine(.local { $0.connectTimeout = .milliseconds(300) })
        #expect(await engine.fetch("https://127.0.0.1:\(noTLS.port)/").error?.code == .tlsFailed)
        #expect(await shortTimeout.fetch("https://127.0.0.1:\(silent.port)/").error?.code == .timeout)
        #expect(await engine.fetch("https://127.0.0.1:\(resetting.port)/").error?.code == .connectFailed)
    }

    @Test func followsRedirects() async throws {
        let target = try HostileServer(["/b.jpg": .answer(body: Self.photo)])
        let server = try HostileServer([
            "/a.jpg": .redirect(to: "/again"), "/again": .redirect(to: target.url("/b.jpg")),
        ])
        #expect(await TransferEngine(.local()).fetch(server.url("/a.jpg")).body == Self.photo)
    }

    @Test func connectToReplacesTheAddress() async throws {
        let server = try HostileServer(["/a.jpg": .answer(body: Self.photo)])
        let connectTo = ["photos.example.org:80:127.0.0.1:\(server.port)"]
        let engine = TransferEngine(.local { $0.connectTo = connectTo })
        #expect(await engine.fetch("http://photos.example.org/a.jpg").body == Self.photo)
        #expect(server.log.heads.first?.contains("Host: photos.example.org\r\n") == true)

        // Requests have the host in ASCII.
        let named = TransferEngine(.local { $0.connectTo = ["münchen.example:80:127.0.0.1:\(server.port)"] })
        #expect(await named.fetch("http://münchen.example/a.jpg").body == Self.photo)

        var strict = TransferConfiguration()
        strict.connectTo = connectTo
        let error = await TransferEngine(strict).fetch("http://photos.example.org/a.jpg").error
        #expect(error?.code == .addressDenied)
    }
}
