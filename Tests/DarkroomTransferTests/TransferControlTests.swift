import DarkroomTestSupport
import Dispatch
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct TransferControlTests {
    @Test(arguments: ["/stall", "/half", "/endless"])
    func cancelAbortsATransferInFlight(path: String) async throws {
        let server = try HostileServer([
            "/stall": .stall, "/half": .stallHalfWay(body: [1], declared: 9), "/endless": .endless,
        ])
        let results = Collected<Result<Download, TransferError>>()
        let engine = TransferEngine(.local { $0.maxBytes = 64 << 30 })
        let transfer = engine.start(server.url(path), onChunk: { _ in }, completion: results.add)
        #expect(await server.wait { $0.requests[path] == 1 })
        transfer.cancel()
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
        #expect(await server.wait { $0.departures[path] == 1 }, "\(server.log)")
        transfer.cancel()
        engine.shutdown()
        #expect(results.values.count == 1)
    }

    @Test func cancelsATransferThatWaitsForItsHost() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        let engine = TransferEngine(.local { $0.perHost = 1 })
        let first = Collected<Result<Download, TransferError>>()
        let second = Collected<Result<Download, TransferError>>()
        let third = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/held"), completion: first.add)
        let waiting = engine.start(server.url("/held"), completion: second.add)
        engine.start(server.url("/b"), completion: third.add)
        #expect(await server.wait { $0.running == 1 })
        waiting.cancel()
        #expect(
            await second.wait(for: 1).first?.error == TransferError(code: .cancelled, detail: "cancelled", attempts: 0))
        server.release()
        #expect(await first.wait(for: 1).first?.body == [1])
        #expect(await third.wait(for: 1).first?.body == [2])
        #expect(server.log.requests == ["/held": 1, "/b": 1])
    }

    @Test func cancelsATransferThatWaitsForItsNextAttempt() async throws {
        let server = try HostileServer(["/a": .answer(status: 503, headers: ["Retry-After: 50"]), "/b": .answer()])
        let engine = TransferEngine(.local { $0.patience = .seconds(60) })
        let results = Collected<Result<Download, TransferError>>()
        let transfer = engine.start(server.url("/a"), completion: results.add)
        #expect(await server.wait { $0.requests["/a"] == 1 && $0.running == 0 })
        // After this the engine has the reply to the first request.
        _ = await engine.fetch("http://localhost:\(server.port)/b")
        transfer.cancel()
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
    }

    @Test func withdrawCancelsOnlyTransfersThatHaveNotBegun() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1]))])
        let engine = TransferEngine(.local { $0.perHost = 1 })
        let first = Collected<Result<Download, TransferError>>()
        let second = Collected<Result<Download, TransferError>>()
        let running = engine.start(server.url("/held"), completion: first.add)
        let waiting = engine.start(server.url("/held"), completion: second.add)
        #expect(await server.wait { $0.running == 1 })
        running.withdraw()
        waiting.withdraw()
        #expect(await second.wait(for: 1).first?.error?.code == .cancelled)
        server.release()
        #expect(await first.wait(for: 1).first?.body == [1])
        #expect(server.log.requests["/held"] == 1)
    }

    @Test func withdrawCancelsATransferThatWaitsForItsNextAttempt() async throws {
        let server = try HostileServer(["/a": .answer(status: 503, headers: ["Retry-After: 50"]), "/b": .answer()])
        let engine = TransferEngine(.local { $0.patience = .seconds(60) })
        let results = Collected<Result<Download, TransferError>>()
        let transfer = engine.start(server.url("/a"), completion: results.add)
        #expect(await server.wait { $0.requests["/a"] == 1 && $0.running == 0 })
        // After this the engine has the reply to the first request.
        _ = await engine.fetch("http://localhost:\(server.port)/b")
        transfer.withdraw()
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
    }

    @Test func transferThatMayNotBeginFreesItsPlace() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        let engine = TransferEngine(.local { $0.perHost = 1 })
        let refused = Collected<Result<Download, TransferError>>()
        let next = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/held"), completion: { _ in })
        #expect(await server.wait { $0.running == 1 })
        for _ in 0..<3 { engine.start(server.url("/b"), mayBegin: { false }, completion: refused.add) }
        engine.start(server.url("/b"), mayBegin: { true }, completion: next.add)
        server.release()
        #expect(await next.wait(for: 1).first?.body == [2])
        #expect(await refused.wait(for: 3).allSatisfy { $0.error?.code == .cancelled })
        #expect(server.log.requests["/b"] == 1)
    }

    @Test func higherPriorityGetsTheNextPlaceAtAHost() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1]))])
        let engine = TransferEngine(.local { $0.perHost = 1 })
        let order = Collected<String>()
        engine.start(server.url("/held"), completion: { _ in })
        #expect(await server.wait { $0.running == 1 })
        engine.start(server.url("/held"), completion: { _ in order.add("ordinary") })
        engine.start(
            server.url("/held"), order: TransferOrder(priority: 1), completion: { _ in order.add("high") })
        engine.start(server.url("/held"), completion: { _ in order.add("promoted") })
            .reorder(TransferOrder(priority: 2))
        // When the withdrawal of this last transfer completes, the engine has processed all earlier calls.
        let last = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/held"), completion: last.add).withdraw()
        #expect(await last.wait(for: 1).first?.error?.code == .cancelled)
        server.release()
        #expect(await order.wait(for: 3) == ["promoted", "high", "ordinary"])
    }

    @Test func limitOfAHostDoesNotStopOtherHosts() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        let engine = TransferEngine(.local { $0.perHost = 6 })
        let results = Collected<Result<Download, TransferError>>()
        for _ in 0..<20 { engine.start(server.url("/held"), completion: results.add) }
        #expect(await server.wait { $0.running == 6 })
        #expect(await engine.fetch("http://localhost:\(server.port)/b").body == [2])
        #expect(server.log.requests["/held"] == 6)
        // The server may count the next request before it has ended the previous one.
        #expect(server.log.mostRunning <= 7)
        server.release()
        #expect(await results.wait(for: 20).allSatisfy { $0.body == [1] })
        #expect(server.log.requests["/held"] == 20)
    }

    @Test func shutdownEndsEverythingInFlight() async throws {
        let server = try HostileServer(["/stall": .stall, "/500": .answer(status: 500)])
        let results = Collected<Result<Download, TransferError>>()
        let engine = TransferEngine(
            .local {
                $0.perHost = 20
                $0.retries = 3
                $0.retryPauses = [.seconds(30)]
            })
        engine.start(server.url("/500"), completion: results.add)
        for _ in 0..<50 { engine.start(server.url("/stall"), completion: results.add) }
        #expect(await server.wait { $0.requests == ["/500": 1, "/stall": 20] })
        engine.shutdown()
        #expect(results.values.count == 51)
        #expect(results.values.allSatisfy { $0.error?.code == .cancelled })
        #expect(await server.wait { $0.departures["/stall"] == 20 })
        engine.shutdown()
        #expect(await engine.fetch(server.url("/stall")).error?.code == .cancelled)
    }

    /// A TLS handshake keeps a network thread busy, as this consumer of bytes does.
    @Test func busyNetworkThreadDoesNotDelayTheEngine() async throws {
        let server = try HostileServer(["/a": .answer(body: [1])])
        let engine = TransferEngine(
            .local {
                $0.perHost = 1
                $0.fileFolders = ["/etc"]
            })
        let isBusy = Collected<Bool>()
        let mayGoOn = DispatchSemaphore(value: 0)
        let results = Collected<Result<Download, TransferError>>()
        let running = engine.start(
            server.url("/a"),
            onChunk: { _ in
                isBusy.add(true)
                mayGoOn.wait()
            }, completion: results.add)
        #expect(await isBusy.wait(for: 1) == [true])
        #expect(await engine.fetch("file:///etc/hostname").body != nil)
        let waiting = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/a"), completion: waiting.add).cancel()
        #expect(await waiting.wait(for: 1).first?.error?.code == .cancelled)
        // The cancelled attempt keeps its slot until its connection is closed.
        let begun = Collected<Bool>()
        let next = Collected<Result<Download, TransferError>>()
        engine.start(
            server.url("/a"),
            mayBegin: {
                begun.add(true)
                return true
            }, completion: next.add)
        running.cancel()
        #expect(await engine.fetch("file:///etc/hostname").body != nil)
        #expect(results.values.isEmpty && begun.values.isEmpty)
        mayGoOn.signal()
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
        #expect(await next.wait(for: 1).first?.body == [1])
    }

    @Test func deallocatedEngineCancelsItsTransfers() async throws {
        let server = try HostileServer(["/stall": .stall])
        let results = Collected<Result<Download, TransferError>>()
        var engine: TransferEngine? = TransferEngine(.local())
        engine?.start(server.url("/stall"), completion: results.add)
        #expect(await server.wait { $0.running == 1 })
        engine = nil
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
        #expect(await server.wait { $0.departures["/stall"] == 1 })
    }

    @Test func completionsMayStartCancelAndShutDown() async throws {
        let server = try HostileServer(["/a": .answer(body: [1]), "/stall": .stall])
        let engine = TransferEngine(.local())
        let results = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/a")) { result in
            results.add(result)
            engine.start(server.url("/stall"), completion: results.add).cancel()
            engine.start(server.url("/a")) { result in
                results.add(result)
                engine.start(server.url("/stall"), completion: results.add)
                engine.shutdown()
            }
        }
        let all = await results.wait(for: 4)
        #expect(all.filter { $0.body == [1] }.count == 2)
        #expect(all.filter { $0.error?.code == .cancelled }.count == 2)
    }
}
