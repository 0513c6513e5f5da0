import DarkroomConcurrency
import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

/// What the host book and the name lookups mean for transfers.
@Suite(.timeLimit(.minutes(5))) struct TransferHostsTests {
    @Test func refusalHoldsTheHostAndNotOthers() async throws {
        let server = try HostileServer([
            "/a": .inTurn([.answer(status: 429, headers: ["Retry-After: 2"]), .answer(body: [1])]),
            "/b": .answer(body: [2]),
        ])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = 1
                $0.patience = .seconds(60)
            })
        let results = Collected<Result<Download, TransferError>>()
        let waits = Collected<Bool>()
        engine.start(server.url("/a"), waits: { waits.add(true) }, completion: results.add)
        _ = await waits.wait(for: 1)
        for _ in 0..<3 { engine.start(server.url("/b"), completion: results.add) }
        #expect(await engine.fetch("http://localhost:\(server.port)/b").body == [2])
        let bodies = await results.wait(for: 4).compactMap(\.body)
        #expect(bodies == [[1], [2], [2], [2]], "the transfer that was refused is the first after the pause")
        let arrivals = server.log.arrivals
        #expect(try #require(arrivals.dropFirst(2).first) - arrivals[0] >= .seconds(2))
    }

    /// The pauses before the next look-ups are 2 and 4 s, so that there are two look-ups in 6 s.
    @Test func failingNameIsAskedForLessAndLess() async throws {
        let names = try NameServer(["once.test": .fails, "failing.test": .fails])
        func ask(_ name: String, patience: Duration) async {
            let engine = TransferEngine(
                .local {
                    $0.nameServers = names.address
                    $0.patience = patience
                })
            let error = await engine.fetch("http://\(name)/a").error
            #expect(error?.code == .nameNotFound)
        }
        await ask("once.test", patience: .zero)
        await ask("failing.test", patience: .seconds(6))
        // The answer to one question may end a look-up before the server has read the other questions. It has read all
        // questions about the first name before those about the second name.
        let once = try #require(names.questions["once.test"])
        let all = try #require(names.questions["failing.test"])
        // With equal pauses of 2 s there would be three look-ups.
        #expect(all > once && all <= 2 * once, "\(all) questions, \(once) at a time")
    }

    @Test func photosOfASilentHostFailTogether() async throws {
        let server = try HostileServer(["/stall": .stall, "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.stallTimeout = .milliseconds(200)
                $0.patience = .seconds(6)
            })
        let results = Collected<Result<Download, TransferError>>()
        for _ in 0..<200 { engine.start(server.url("/stall"), completion: results.add) }
        for _ in 0..<20 { #expect(await engine.fetch("http://localhost:\(server.port)/b").body == [2]) }
        let codes = await results.wait(for: 200).map(\.error?.code)
        #expect(codes.allSatisfy { $0 == .hostUnreachable || $0 == .stalled })
        #expect(codes.count { $0 == .hostUnreachable } > 180)
        #expect(try #require(server.log.requests["/stall"]) < 20)
        // Until the next probe is due, new transfers fail at once, without a request to the host.
        let before = server.log.requests["/stall"]
        #expect(await engine.fetch(server.url("/stall")).error?.code == .hostUnreachable)
        #expect(server.log.requests["/stall"] == before)
    }

    @Test func photosOfAHostThatCompletesNoneFailTogether() async throws {
        let server = try HostileServer(["/half": .stallHalfWay(body: [1, 2, 3], declared: 9)])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.stallTimeout = .milliseconds(500)
                $0.patience = .seconds(2)
                $0.retries = 1
                $0.retryPauses = [.seconds(10)]
            })
        let results = Collected<Result<Download, TransferError>>()
        for _ in 0..<200 { engine.start(server.url("/half"), completion: results.add) }
        let codes = await results.wait(for: 200).map(\.error?.code)
        #expect(codes.allSatisfy { $0 == .hostTooSlow })
        #expect(try #require(server.log.requests["/half"]) < 150)
    }

    /// The probes of a host that is down must not always be the same photos.
    @Test func photosThatAreNeverAnsweredDoNotHinderOthers() async throws {
        let server = try HostileServer(["/stall": .stall, "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = 4
                $0.stallTimeout = .milliseconds(200)
                $0.patience = .seconds(20)
            })
        let (stalled, good) = (
            Collected<Result<Download, TransferError>>(), Collected<Result<Download, TransferError>>()
        )
        let stalling = (0..<6).map { _ in engine.start(server.url("/stall"), completion: stalled.add) }
        for _ in 0..<30 { engine.start(server.url("/b"), completion: good.add) }
        #expect(await good.wait(for: 30).allSatisfy { $0.body == [2] })
        for transfer in stalling { transfer.cancel() }
        _ = await stalled.wait(for: 6)
    }

    @Test func waitsForAHostThatIsDownNameTheNextProbe() async throws {
        let server = try HostileServer(["/stall": .stall])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = 3
                $0.stallTimeout = .milliseconds(200)
                $0.patience = .seconds(60)
            })
        let waits = Collected<ContinuousClock.Instant>()
        let steps = TransferSteps(waits: { wait, _ in if case .host(let end) = wait { waits.add(end) } })
        for _ in 0..<3 { engine.start(server.url("/stall")) { _ in } }
        engine.start(server.url("/stall"), steps: steps) { _ in }
        // Each probe is later than the one before.
        let probes = await waits.wait(for: 3)
        #expect(probes.count == 3 && probes == probes.sorted() && probes[2] - probes[0] >= .seconds(1))
    }

    @Test func hostThatOnlyRefusesFailsItsPhotosTogether() async throws {
        let server = try HostileServer(["/a": .answer(status: 503, headers: ["Retry-After: 31536000"])])
        defer { server.stop() }
        let engine = TransferEngine(.local { $0.patience = .seconds(60) })
        let results = Collected<Result<Download, TransferError>>()
        for _ in 0..<50 { engine.start(server.url("/a"), completion: results.add) }
        #expect(await results.wait(for: 50).allSatisfy { $0.error?.code == .hostRefuses })
        #expect(try #require(server.log.requests["/a"]) <= 6)
    }

    @Test func nameThatDoesNotExistFailsAllItsPhotosWithOneQuestion() async throws {
        let names = try NameServer([:])
        let engine = TransferEngine(
            .local {
                $0.nameServers = names.address
                $0.patience = .seconds(60)
            })
        let results = Collected<Result<Download, TransferError>>()
        for number in 0..<50 { engine.start("http://gone.test/\(number)", completion: results.add) }
        #expect(await results.wait(for: 50).allSatisfy { $0.error?.code == .nameNotFound })
        #expect(await engine.fetch("http://gone.test/again").error?.code == .nameNotFound)
        #expect(try #require(names.questions["gone.test"]) <= 4, "the photos ask one by one")
    }

    // MARK: Room for bodies

    @Test func bodyWaitsUntilThereIsRoom() async throws {
        let body = [UInt8](repeating: 7, count: 300_000)
        let server = try HostileServer([
            "/a": .answer(body: body), "/clock": .drip(body: [1, 2], pause: .milliseconds(2500)),
        ])
        defer { server.stop() }
        let engine = TransferEngine(.local { $0.stallTimeout = .seconds(2) })
        let hasRoom = Locked(false)
        let asked = Collected<Int>()
        let results = Collected<Result<Download, TransferError>>()
        let steps = TransferSteps(mayCarry: { bytes in
            asked.add(bytes)
            return hasRoom.withLock { $0 }
        })
        let transfer = engine.start(server.url("/a"), steps: steps, completion: results.add)
        #expect(await asked.wait(for: 1).first == 300_000)
        // Waiting for room does not count as silence of the server.
        #expect(await TransferEngine(.local()).fetch(server.url("/clock")).body == [1, 2])
        #expect(results.values.isEmpty)
        hasRoom.withLock { $0 = true }
        engine.resume()
        #expect(await results.wait(for: 1).first?.body == body)
        transfer.cancel()

        hasRoom.withLock { $0 = false }
        let cancelled = Collected<Result<Download, TransferError>>()
        let count = asked.values.count
        let second = engine.start(server.url("/a"), steps: steps, completion: cancelled.add)
        #expect(await asked.wait(for: count + 1).count > count)
        second.cancel()
        #expect(await cancelled.wait(for: 1).first?.error?.code == .cancelled)
    }

    @Test func transfersOfLowPriorityBeginAfterTheEngineIsOpen() async throws {
        let server = try HostileServer(["/a": .answer(body: [1]), "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(.local())
        engine.open(fromPriority: 1)
        let low = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/a"), completion: low.add)
        let high = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/b"), order: TransferOrder(priority: 1), completion: high.add)
        #expect(await high.wait(for: 1).first?.body == [2])
        #expect(server.log.requests["/a"] == nil)
        engine.open(fromPriority: 0)
        #expect(await low.wait(for: 1).first?.body == [1])
    }
}
