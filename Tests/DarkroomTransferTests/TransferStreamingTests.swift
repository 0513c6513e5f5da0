import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct TransferStreamingTests {
    private func stream(
        _ url: String, _ engine: TransferEngine
    ) async -> (bytes: [UInt8], result: Result<Download, TransferError>) {
        let pieces = Collected<[UInt8]>()
        let result = await withCheckedContinuation { continuation in
            engine.start(url, onChunk: { pieces.add(Array($0)) }, completion: { continuation.resume(returning: $0) })
        }
        return (pieces.values.flatMap { $0 }, result)
    }

    @Test func deliversTheBodyInPieces() async throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try HostileServer([
            "/list": .inTurn([.answer(status: 500, body: [9, 9]), .undeclared(body: body)])
        ])
        let (bytes, result) = await stream(server.url("/list"), TransferEngine(.local { $0.retries = 1 }))
        #expect(bytes == body)
        #expect(result.body == [])
        #expect(try result.get().attempts == 2)
    }

    @Test func doesNotRetryAfterBytesWereDelivered() async throws {
        let server = try HostileServer(["/list": .closeHalfWay(body: [1, 2], declared: 3)])
        let (bytes, result) = await stream(server.url("/list"), TransferEngine(.local { $0.retries = 3 }))
        #expect(bytes == [1, 2])
        #expect(result.error?.code == .truncated)
        #expect(server.log.requests == ["/list": 1])
    }

    @Test func deliversNoBodyOfAnError() async throws {
        let server = try HostileServer(["/list": .answer(status: 404, body: [1, 2])])
        let (bytes, result) = await stream(server.url("/list"), TransferEngine(.local()))
        #expect(bytes == [])
        #expect(result.error?.code == .httpClientError(404))
    }
}
