import DarkroomHosts
import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct TransferRetryTests {
    private static let good = HostileServer.Route.answer(body: Array("photo".utf8))

    @Test(arguments: ["/500", "/408", "/429", "/reset", "/hangup", "/cut", "/stall"])
    func retriesUntilItSucceeds(path: String) async throws {
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
                $0.patience = .seconds(60)
                if path == "/stall" { $0.stallTimeout = .seconds(2) }
            })
        let download = try await engine.fetch(server.url(path)).get()
        #expect(download.body == Array("photo".utf8))
        #expect(download.attempts == 3)
        #expect(server.log.requests == [path: 3])
    }

    @Test func transferContinuesTheAttemptsOfAnother() async throws {
        let server = try HostileServer(["/a": .answer(status: 500)])
        let engine = TransferEngine(.local { $0.retries = 5 })
        var history = RetryHistory()
        history.attempts = 4
        history.failures = RetryHistory.Failures(since: .now - .seconds(10), count: 4)
        history.next = .now + .seconds(1)
        let results = Collected<Result<Download, TransferError>>()
        let waits = Collected<RetryHistory>()
        let begun = ContinuousClock.now
        let steps = TransferSteps(waits: { wait, history in if case .retry = wait { waits.add(history) } })
        engine.start(server.url("/a"), steps: steps, history: history, completion: results.add)
        #expect(await results.wait(for: 1)[0].error?.attempts == 6)
        #expect(server.log.requests == ["/a": 2])
        #expect(server.log.arrivals[0] - begun >= .seconds(1), "it waits as long as the other one would have waited")
        let last = try #require(await waits.wait(for: 2).last)
        #expect(last.attempts == 5 && last.failures?.count == 5 && last.failures?.since == history.failures?.since)
    }

    @Test func failsAfterTheLastAttempt() async throws {
        let server = try HostileServer(["/a": .answer(status: 500)])
        let error = await TransferEngine(.local { $0.retries = 2 }).fetch(server.url("/a")).error
        #expect(error?.code == .httpServerError(500))
        #expect(error?.attempts == 3)
        #expect(server.log.requests == ["/a": 3])
    }

    @Test(arguments: ["/404", "/large", "/loop"])
    func doesNotRetryLastingFaults(path: String) async throws {
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

    /// Chunk extensions also count towards the size limit of the body.
    @Test(arguments: [100_000, 10]) func failsABodyWithEndlessChunkExtensions(bytes: Int) async throws {
        let server = try HostileServer(["/a": .endlessExtensions(bytes: bytes)])
        let engine = TransferEngine(
            .local {
                $0.retries = 3
                $0.maxBytes = 1 << 20
                $0.timeout = .seconds(20)
            })
        let error = await engine.fetch(server.url("/a")).error
        // Until the timeout, the code would be another one.
        #expect(error?.code == .tooLarge && error?.attempts == 1, "\(error as TransferError?)")
        #expect(server.log.requests == ["/a": 1])
    }

    @Test func bodyInSmallChunksIsAccepted() async throws {
        // The server sends six bytes for each byte of the body.
        let chunks =
            Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".utf8)
            + Array(String(repeating: "1\r\nx\r\n", count: 200_000).utf8)
        let server = try HostileServer(["/a": .raw(chunks + Array("0\r\n\r\n".utf8))])
        let engine = TransferEngine(.local { $0.maxBytes = 200_000 })
        #expect(try await engine.fetch(server.url("/a")).get().body.count == 200_000)
    }

    @Test(arguments: [true, false]) func timeoutIsRetriedUnlessBytesArrived(hasBody: Bool) async throws {
        let body = HostileServer.Route.drip(body: [UInt8](repeating: 9, count: 1000), pause: .milliseconds(100))
        let server = try HostileServer(["/a": hasBody ? body : .stall])
        let engine = TransferEngine(
            .local {
                $0.retries = 1
                $0.patience = .seconds(2)
                $0.timeout = .seconds(1)
            })
        let error = await engine.fetch(server.url("/a")).error
        #expect(error?.code == .timeout, "\(error as TransferError?)")
        #expect(error.map { hasBody ? $0.attempts == 1 : $0.attempts > 1 } == true, "\(error as TransferError?)")
    }

    @Test func triesRefusedConnectionsUntilThePatienceIsOver() async throws {
        let server = try HostileServer([:])
        server.stop()
        let error = await TransferEngine(.local { $0.patience = .seconds(2) }).fetch(server.url("/")).error
        #expect(error?.code == .connectFailed && (2...4).contains(error?.attempts ?? 0), "\(error as TransferError?)")
    }

    @Test func waitsAsLongAsTheServerAsks() async throws {
        let server = try HostileServer([
            "/a": .inTurn([.answer(status: 429, headers: ["Retry-After: 2"]), Self.good])
        ])
        let download = try await TransferEngine(.local { $0.patience = .seconds(60) }).fetch(server.url("/a")).get()
        #expect(download.attempts == 2)
        let arrivals = server.log.arrivals
        try #require(arrivals.count == 2)
        #expect(arrivals[1] - arrivals[0] >= .seconds(2))
    }
}
