import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// Tests which transfers occupy one of the `maxRequests` places.
@Suite(.timeLimit(.minutes(5))) struct TransferPlacesTests {
    @Test func transferThatWaitsForItsNextAttemptHasNoPlace() async throws {
        let server = try HostileServer([
            "/busy": .answer(status: 503, headers: ["Retry-After: 50"]), "/b": .answer(body: [2]),
        ])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.maxRequests = 1
                $0.patience = .seconds(60)
            })
        let waits = Collected<Bool>()
        let busy = Collected<Result<Download, TransferError>>()
        let transfer = engine.start(server.url("/busy"), waits: { waits.add(true) }, completion: busy.add)
        _ = await waits.wait(for: 1)
        #expect(await engine.fetch("http://localhost:\(server.port)/b").body == [2])
        #expect(busy.values.isEmpty)
        transfer.cancel()
        #expect(await busy.wait(for: 1).first?.error?.code == .cancelled)
    }

    @Test func transferThatWaitsForItsHostHasNoPlace() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = 1
                $0.maxRequests = 2
            })
        let waits = Collected<Int>()
        let results = Collected<Result<Download, TransferError>>()
        for number in 0..<5 {
            engine.start(server.url("/held"), waits: { waits.add(number) }, completion: results.add)
        }
        #expect(await waits.wait(for: 4) == [1, 2, 3, 4])
        #expect(await engine.fetch("http://localhost:\(server.port)/b").body == [2])
        server.release()
        #expect(await results.wait(for: 5).allSatisfy { $0.body == [1] })
    }

    @Test func higherPriorityDoesNotWaitForLowerPriorities() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = .max
                $0.maxRequests = 3
            })
        let results = Collected<Result<Download, TransferError>>()
        for _ in 0..<10 { engine.start(server.url("/held"), completion: results.add) }
        #expect(await server.wait { $0.running == 3 })
        let high = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/b"), order: TransferOrder(priority: 1), completion: high.add)
        #expect(await high.wait(for: 1).first?.body == [2])
        #expect(server.log.requests["/held"] == 3)
        server.release()
        #expect(await results.wait(for: 10).allSatisfy { $0.body == [1] })
    }

    @Test func runningTransferCountsWithItsNewPriority() async throws {
        let server = try HostileServer(["/held": .held(.answer(body: [1])), "/b": .answer(body: [2])])
        defer { server.stop() }
        let engine = TransferEngine(.local { $0.maxRequests = 1 })
        let results = Collected<Result<Download, TransferError>>()
        let running = engine.start(server.url("/held"), completion: results.add)
        #expect(await server.wait { $0.running == 1 })
        running.reorder(TransferOrder(priority: 1))
        let waits = Collected<Bool>()
        engine.start(
            server.url("/b"), order: TransferOrder(priority: 1), waits: { waits.add(true) }, completion: results.add)
        #expect(await waits.wait(for: 1) == [true], "the transfer took a place that is not free")
        server.release()
        #expect(await results.wait(for: 2).map(\.body) == [[1], [2]])
    }

    @Test func filesAreReadInTheOrderOfTheirPriorities() async throws {
        let engine = TransferEngine(.local { $0.fileFolders = ["/etc"] })
        let results = Collected<Result<Download, TransferError>>()
        let begun = Collected<Int>()
        let allAreQueued = DispatchSemaphore(value: 0)
        func start(_ number: Int, priority: Int = 0) {
            engine.start(
                "file:///etc/hostname", order: TransferOrder(priority: priority),
                mayBegin: {
                    // Blocks the thread of the engine, so that no other transfer begins.
                    if number == 0 { allAreQueued.wait() }
                    begun.add(number)
                    return true
                }, completion: results.add)
        }
        for number in 0..<50 { start(number) }
        start(50, priority: 1)
        allAreQueued.signal()
        #expect(await results.wait(for: 51).allSatisfy { $0.body?.isEmpty == false })
        #expect(begun.values == Array(0..<FileReader.maxThreads) + [50] + Array(FileReader.maxThreads..<50))
    }

    // MARK: The minimum rate

    @Test(arguments: [(1_000_000, 100, true), (10, 1000, false), (0, 100, false)])
    func serverMustSendAtTheMinimumRate(minimum: Int, spanMilliseconds: Int, isTooSlow: Bool) async throws {
        let body = [UInt8](repeating: 1, count: 120)
        let server = try HostileServer(["/drip": .drip(body: body, pause: .milliseconds(10))])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.minBytesPerSecond = minimum
                $0.minRateSpan = .milliseconds(spanMilliseconds)
            })
        let result = await engine.fetch(server.url("/drip"))
        #expect(result.error?.code == (isTooSlow ? .stalled : nil), "\(result)")
        #expect(!isTooSlow || result.error?.detail.contains("less than 1000000") == true, "\(result)")
    }

    /// The minimum rate does not apply to the first time span, because a server may need time before it replies.
    @Test func lateButFastReplyIsAccepted() async throws {
        let server = try HostileServer([
            "/late": .held(.answer(body: [1, 2, 3])), "/clock": .drip(body: [1, 2], pause: .milliseconds(1600)),
        ])
        defer { server.stop() }
        let span = Duration.seconds(3)
        let engine = TransferEngine(
            .local {
                $0.minBytesPerSecond = 1
                $0.minRateSpan = span
            })
        let results = Collected<Result<Download, TransferError>>()
        engine.start(server.url("/late"), completion: results.add)
        #expect(await server.wait { $0.running == 1 })
        let began = ContinuousClock.now
        #expect(await TransferEngine(.local()).fetch(server.url("/clock")).body == [1, 2])
        #expect(ContinuousClock.now - began > span, "the clock is too fast")
        server.release()
        #expect(await results.wait(for: 1).first?.body == [1, 2, 3])
    }
}
