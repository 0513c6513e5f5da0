import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(1))) struct TransferRetryTests {
    private static let good = HostileServer.Route.answer(body: Array("photo".utf8))

    @Test(arguments: ["/500", "/408", "/429", "/reset", "/hangup", "/cut", "/stall"])
    func triesAgainUntilItSucceeds(path: String) async throws {
        let server = try HostileServer([
            "/500": .inTurn([.answer(status: 500), .answer(status: 502), Self.good]),
            "/408": .inTurn([.answer(status: 408), .answer(status: 425), Self.good]),
            "/429": .inTurn([.answer(status: 429), .answer(status: 429), Self.good]),
            "/reset": .inTurn([.reset, .reset, Self.good]),
            "/hangup": .inTurn([.hangUp, .hangUp, Self.good]),
            "/cut": .inTurn([
                .closeHalfWay(body: [9, 9], declared: 5), .closeHalfWay(body: [9], declared: 5), Self.good,
            ]),
            "/stall": .inTurn([.stall, .stallHalfWay(body: [9], declared: 5), Self.good]),
        ])
        let engine = TransferEngine(
            .local {
                $0.retries = 2
                if path == "/stall" { $0.stallTimeout = .seconds(2) }
            })
        let download = try await engine.fetch(server.url(path)).get()
        #expect(download.body == Array("photo".utf8))
        #expect(download.attempts == 3)
        #expect(server.log.requests == [path: 3])
    }

    @Test func givesUpAfterTheLastAttempt() async throws {
        let server = try HostileServer(["/a": .answer(status: 500)])
        let error = await TransferEngine(.local { $0.retries = 2 }).fetch(server.url("/a")).error
        #expect(error?.code == .httpServerError(500))
        #expect(error?.attempts == 3)
        #expect(server.log.requests == ["/a": 3])
    }

    @Test(arguments: ["/404", "/large", "/loop"])
    func triesOnlyOnceWhatCannotPass(path: String) async throws {
        let server = try HostileServer([
            "/404": .answer(status: 404), "/large": .answer(body: [1, 2, 3]), "/loop": .redirect(to: "ftp://x/"),
        ])
        let engine = TransferEngine(
            .local {
                $0.retries = 3
                $0.maxBytes = 2
            })
        #expect(await engine.fetch(server.url(path)).error?.attempts == 1)
        #expect(server.log.requests == [path: 1])
    }

    @Test func triesConnectionsThatAreRefusedAgain() async throws {
        let server = try HostileServer([:])
        server.stop()
        let error = await TransferEngine(.local { $0.retries = 1 }).fetch(server.url("/")).error
        #expect(error == TransferError(code: .connectFailed, detail: error?.detail ?? "", attempts: 2))
    }

    @Test func waitsAsLongAsTheServerAsks() async throws {
        let server = try HostileServer([
            "/a": .inTurn([.answer(status: 429, headers: ["Retry-After: 2"]), Self.good])
        ])
        let download = try await TransferEngine(.local { $0.retries = 1 }).fetch(server.url("/a")).get()
        #expect(download.attempts == 2)
        let arrivals = server.log.arrivals
        try #require(arrivals.count == 2)
        #expect(arrivals[1] - arrivals[0] >= .seconds(2))
    }
}
