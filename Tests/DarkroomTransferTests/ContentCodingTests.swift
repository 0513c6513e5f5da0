import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct ContentCodingTests {
    private static let photo = TransferEngineTests.photo

    private func server(_ body: [UInt8], _ coding: String...) throws -> HostileServer {
        try HostileServer(["/a": .answer(headers: coding.map { "Content-Encoding: \($0)" }, body: body)])
    }

    private func fetch(
        _ server: HostileServer, _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) async -> Result<Download, TransferError> {
        await TransferEngine(.local(change)).fetch(server.url("/a"))
    }

    @Test func decodesWithoutAskingForIt() async throws {
        let bodies: [([UInt8], String)] = [
            (Compressed.gzip(Self.photo), "gzip"), (Compressed.zlib(Self.photo), "deflate"),
            (Compressed.gzip(Compressed.gzip(Self.photo)), "gzip, gzip"),
        ]
        for (body, coding) in bodies {
            let server = try server(body, coding)
            #expect(await fetch(server).body == Self.photo, "\(coding)")
            #expect(server.log.heads.allSatisfy { !$0.lowercased().contains("accept-encoding") })
        }
        #expect(await fetch(try server(Compressed.brotliHello, "br")).body == Array("hello\n".utf8))
        #expect(await fetch(try server(Compressed.zstdHello, "zstd")).body == Array("hello\n".utf8))
        let lines = try server(Compressed.gzip(Compressed.brotliHello), "br", "gzip")
        #expect(await fetch(lines).body == Array("hello\n".utf8))
    }

    @Test(arguments: ["gzip", "br", "zstd", "deflate", "utf-8", "identity", "none", "image/jpeg", "aws-chunked", ""])
    func pictureWithoutTheCodingStaysAsItIs(coding: String) async throws {
        let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xe0] + Self.photo
        #expect(await fetch(try server(jpeg, coding)).body == jpeg)
        #expect(await fetch(try server([0xff], coding == "br" || coding == "deflate" ? "gzip" : coding)).body == [0xff])
    }

    @Test func decodedBytesCountAgainstTheLargestSize() async throws {
        let gzip = Compressed.gzip(Self.photo)
        #expect(await fetch(try server(gzip, "gzip")) { $0.maxBytes = Self.photo.count }.body == Self.photo)
        #expect(await fetch(try server(gzip, "gzip")) { $0.maxBytes = Self.photo.count - 1 }.error?.code == .tooLarge)
        let zeros = Compressed.gzip([UInt8](repeating: 0, count: 64 << 20))
        for (bomb, coding) in [
            (zeros, "gzip"), (Compressed.gzip(zeros), "gzip, gzip"), (Compressed.brotliZeros, "br"),
        ] {
            let error = await fetch(try server(bomb, coding)) {
                $0.retries = 3; $0.maxBytes = 1 << 20
            }.error
            #expect(error?.code == .tooLarge && error?.attempts == 1, "\(coding): \(String(describing: error))")
        }
        let many = await fetch(try server(Compressed.gzip(Self.photo), "gzip, gzip, gzip, gzip, gzip, gzip")).error
        #expect(many?.code == .damagedCoding)
    }

    @Test func earlyEndIsTriedAgain() async throws {
        let gzip = Compressed.gzip(Self.photo)
        let lines = ["Content-Encoding: gzip"]
        let server = try HostileServer([
            "/a": .inTurn([
                .answer(headers: lines, body: Array(gzip.dropLast(20))), .answer(headers: lines, body: gzip),
            ])
        ])
        let download = try await fetch(server) { $0.retries = 1 }.get()
        #expect(download.body == Self.photo && download.attempts == 2)
    }

    @Test func damageIsNotTriedAgain() async throws {
        var gzip = Compressed.gzip(Self.photo)
        gzip[gzip.count - 8] ^= 1
        let error = await fetch(try server(gzip, "gzip")) { $0.retries = 3 }.error
        #expect(error?.code == .damagedCoding && error?.attempts == 1, "\(String(describing: error))")
    }

    /// The bodies decode to a thousand times as many bytes and more. While they wait, nothing more of them is decoded.
    @Test(arguments: ["gzip", "br"]) func bodiesThatWaitForRoomUseLittleMemory(coding: String) async throws {
        let zeros = [UInt8](repeating: 0, count: 64 << 20)
        let server = try server(coding == "br" ? Compressed.brotliZeros : Compressed.gzip(zeros), coding)
        let engine = TransferEngine(.local { $0.perHost = 100 })
        let hasRoom = Locked(false)
        let asked = Collected<Int>()
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return hasRoom.withLock { $0 }
        })
        let results = Collected<Result<Download, TransferError>>()
        let before = try residentBytes()
        let transfers = (0..<100).map { _ in engine.start(server.url("/a"), steps: steps, completion: results.add) }
        // Each transfer asks when its body arrives, and again when the engine has learned that it waits.
        _ = await asked.wait(for: 200)
        #expect(try residentBytes() - before < 100 << 20)
        for transfer in transfers.dropFirst() { transfer.cancel() }
        _ = await results.wait(for: 99)
        hasRoom.withLock { $0 = true }
        engine.resume()
        let bodies = await results.wait(for: 100).compactMap(\.body)
        #expect(bodies.count == 1 && bodies.first == zeros)
        #expect(asked.values.allSatisfy { $0 <= 85 << 20 })
    }

    /// The second transfer has memory for its decoder, so it may be the one for which the others wait.
    @Test func bodyThatHasRoomIsAskedForBeforeOthers() async throws {
        let server = try HostileServer([
            "/a": .answer(headers: ["Content-Encoding: br"], body: Compressed.brotliZeros), "/b": .answer(body: [1]),
        ])
        let engine = TransferEngine(.local())
        let (first, second) = (Collected<Int>(), Collected<Int>())
        let hasRoom = Locked(false)
        let waiting = TransferSteps(mayCarry: { bytes in
            first.add(bytes)
            return false
        })
        let results = Collected<Result<Download, TransferError>>()
        let blocked = engine.start(server.url("/b"), steps: waiting, completion: results.add)
        _ = await first.wait(for: 2)
        let going = TransferSteps(mayCarry: { bytes in
            second.add(bytes)
            return second.values.count == 1 || hasRoom.withLock { $0 }
        })
        engine.start(server.url("/a"), steps: going, completion: results.add)
        _ = await second.wait(for: 3)
        hasRoom.withLock { $0 = true }
        engine.resume()
        #expect(await results.wait(for: 1).first?.body?.count == 64 << 20)
        blocked.cancel()
    }

    /// libcurl decodes transfer codings itself, and would keep what it has decoded of a body that waits.
    @Test func transferCodingsThatWaitForRoomUseLittleMemory() async throws {
        let bomb = Compressed.gzip([UInt8](repeating: 0, count: 64 << 20))
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\(String(bomb.count, radix: 16))\r\n"
        let server = try HostileServer(["/a": .raw(Array(head.utf8) + bomb + Array("\r\n0\r\n\r\n".utf8))])
        let engine = TransferEngine(.local { $0.perHost = 50 })
        let asked = Collected<Int>()
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return false
        })
        let results = Collected<Result<Download, TransferError>>()
        let before = try residentBytes()
        let transfers = (0..<50).map { _ in engine.start(server.url("/a"), steps: steps, completion: results.add) }
        #expect(await server.wait { $0.running == 0 && $0.requests["/a"] == 50 })
        #expect(try residentBytes() - before < 100 << 20)
        for transfer in transfers { transfer.cancel() }
        #expect(await results.wait(for: 50).count == 50)
    }

    private func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4096
    }

    @Test func streamedBodiesAreDecoded() async throws {
        let server = try server(Compressed.gzip(Self.photo), "gzip")
        let pieces = Collected<[UInt8]>()
        let engine = TransferEngine(.local())
        let result = await withCheckedContinuation { continuation in
            engine.start(server.url("/a"), onChunk: { pieces.add(Array($0)) }) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result.body == [] && pieces.values.flatMap { $0 } == Self.photo)
    }

    // MARK: Parts

    @Test(arguments: [206, 226]) func partIsNoPhotoAndIsTriedAgain(status: Int) async throws {
        let part = HostileServer.Route.answer(
            status: status, headers: ["Content-Range: bytes 0-9/200000"], body: Array(Self.photo.prefix(10)))
        let server = try HostileServer(["/a": .inTurn([part, .answer(body: Self.photo)]), "/b": part])
        let download = try await fetch(server) { $0.retries = 1 }.get()
        #expect(download.body == Self.photo && download.attempts == 2)
        let error = await TransferEngine(.local()).fetch(server.url("/b")).error
        #expect(error?.code == .truncated)
    }

    @Test func largePartIsNotStreamed() async throws {
        let body = [UInt8](repeating: 1, count: 1 << 20)
        let server = try HostileServer(["/a": .answer(status: 206, body: body)])
        let pieces = Collected<[UInt8]>()
        let engine = TransferEngine(.local())
        let result = await withCheckedContinuation { continuation in
            engine.start(server.url("/a"), onChunk: { pieces.add(Array($0)) }) {
                continuation.resume(returning: $0)
            }
        }
        #expect(result.error?.code == .truncated && pieces.values.isEmpty)
    }

    @Test func partIsAcceptedIfTheUserAsksForIt() async throws {
        let server = try HostileServer(["/a": .answer(status: 206, body: [1, 2])])
        #expect(await fetch(server) { $0.headers = [RequestHeader("Range: bytes=0-1")] }.body == [1, 2])
        let other = try RequestHeader(parsing: "other.example=Range: bytes=0-1")
        #expect(await fetch(server) { $0.headers = [other] }.error?.code == .truncated)
    }

    @Test(arguments: [200, 201, 203]) func successHasAPhoto(status: Int) async throws {
        let server = try HostileServer(["/a": .answer(status: status, body: Self.photo)])
        #expect(await fetch(server).body == Self.photo)
    }

    @Test(arguments: [204, 205]) func responseWithoutContentIsNoPhoto(status: Int) async throws {
        let server = try HostileServer(["/a": .answer(status: status)])
        #expect(await fetch(server).error?.code == .other)
    }
}
