import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// Headers that are made for each request.
@Suite(.timeLimit(.minutes(1))) struct MadeHeadersTests {
    /// The URLs for which headers were made.
    private let urls = Locked<[String]>([])

    private func fetch(
        _ url: String, on engine: TransferEngine = TransferEngine(.local()), _ make: @escaping HeaderMaker
    ) async -> Result<Download, TransferError> {
        await withCheckedContinuation { continuation in
            engine.start(url, makeHeaders: make) { continuation.resume(returning: $0) }
        }
    }

    /// Signs a URL with the number of the request.
    private var sign: HeaderMaker {
        { [urls] url in
            let number = urls.withLock { urls in
                urls.append(url)
                return urls.count
            }
            return [RequestHeader("X-Signature: \(number)")]
        }
    }

    private func signatures(_ server: HostileServer) -> [String] {
        server.log.heads.map { head in
            let line = head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("X-Signature: ") }
            return line.map { String($0.dropFirst(13)) } ?? ""
        }
    }

    @Test func eachAttemptAndEachRedirectToTheServerHasANewSignature() async throws {
        let server = try HostileServer([
            "/a": .inTurn([.hangUp, .redirect(to: "/b")]), "/b": .answer(body: [1]),
        ])
        let configuration = TransferConfiguration.local {
            $0.headers = [RequestHeader("X-Same: yes")]
            $0.accept = "image/*"
            $0.patience = .seconds(60)
        }
        #expect(await fetch(server.url("/a"), on: TransferEngine(configuration), sign).body == [1])
        #expect(signatures(server) == ["1", "2", "3"])
        #expect(urls.withLock { $0 } == ["/a", "/a", "/b"].map { server.url($0) })
        #expect(server.log.heads.allSatisfy { $0.contains("X-Same: yes") && $0.contains("Accept: image/*") })
    }

    @Test func otherServersGetNoSignature() async throws {
        let home = try HostileServer(["/c": .answer(body: [1])])
        let away = try HostileServer(["/b": .redirect(to: home.url("/c"))])
        let start = try HostileServer(["/a": .redirect(to: away.url("/b"))])
        #expect(await fetch(start.url("/a"), sign).body == [1])
        #expect(signatures(start) == ["1"] && signatures(away) == [""] && signatures(home) == [""])
        #expect(urls.withLock { $0 } == [start.url("/a")])
    }

    @Test func headersOfOneTransferAreNotSentInTheNext() async throws {
        let server = try HostileServer(["/a": .answer(body: [1]), "/b": .answer(body: [2])])
        let engine = TransferEngine(.local())
        #expect(await fetch(server.url("/a"), on: engine, sign).body == [1])
        #expect(await engine.fetch(server.url("/b")).body == [2])
        #expect(signatures(server) == ["1", ""])
    }

    @Test func headerWithAHostPatternIsSentToThatHostOnly() async throws {
        let server = try HostileServer(["/a": .answer(body: [1])])
        let other = try HostPattern(parsing: "photos.example")
        #expect(await fetch(server.url("/a")) { _ in [RequestHeader("X-Signature: 1", hosts: other)] }.body == [1])
        #expect(signatures(server) == [""])
    }

    /// A response with status 206 is the photo only if a part of it was asked for.
    @Test func madeHeaderAsksForAPart() async throws {
        let server = try HostileServer([
            "/a": .answer(status: 206, headers: ["Content-Range: bytes 1-1/2"], body: [7])
        ])
        #expect(await fetch(server.url("/a")) { _ in [RequestHeader("Range: bytes=1-")] }.body == [7])
        #expect(await fetch(server.url("/a"), sign).error?.code == .truncated)
    }
}
