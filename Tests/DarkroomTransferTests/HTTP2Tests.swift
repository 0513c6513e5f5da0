import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// Downloads over HTTP/2, and what can go wrong only there. The server of each test decides by the number of a request how
/// it replies.
@Suite(.timeLimit(.minutes(5))) struct HTTP2Tests {
    typealias Frame = HTTP2Server.Frame
    typealias Outcome = Result<Download, TransferError>

    let certificates: Certificates

    init() throws { certificates = try Certificates() }

    func configuration(_ change: (inout TransferConfiguration) -> Void = { _ in }) -> TransferConfiguration {
        .local {
            $0.authorities = certificates.authority
            change(&$0)
        }
    }

    static func answer(_ request: HTTP2Server.Request, _ connection: HTTP2Server.Connection) {
        connection.send(.head(request.stream), .body(request.stream, [UInt8(request.number)]))
    }

    /// Requests that are answered together.
    final class Gate: Sendable {
        private let waiting = Locked<[(HTTP2Server.Request, HTTP2Server.Connection)]>([])

        /// Calls `open` with all requests as soon as there are `count`.
        func add(
            _ request: HTTP2Server.Request, _ connection: HTTP2Server.Connection, until count: Int,
            _ open: (HTTP2Server.Request, HTTP2Server.Connection) -> Void
        ) {
            let all = waiting.withLock { waiting in
                waiting.append((request, connection))
                return waiting.count == count ? waiting : []
            }
            for (request, connection) in all { open(request, connection) }
        }
    }

    // MARK: Streams

    @Test func requestsShareAConnection() async throws {
        let gate = Gate()
        let server = try HTTP2Server(certificates) { request, connection in
            guard request.number > 1 else { return Self.answer(request, connection) }
            gate.add(request, connection, until: 10, Self.answer)
        }
        defer { server.stop() }
        let checks = Locked(0)
        let engine = TransferEngine(configuration { $0.perHost = 10 }) { _ in
            checks.withLock { $0 += 1 }
            return true
        }
        let first = await engine.fetch(server.url("/"))
        #expect(first.body == [1])
        let before = checks.withLock { $0 }
        let results = Collected<Outcome>()
        for _ in 0..<10 { engine.start(server.url("/"), completion: results.add) }
        let downloads = await results.wait(for: 10)
        #expect(Set(downloads.compactMap(\.body)) == Set((2...11).map { [$0] }))
        // A failed download has no way, so it does not pass.
        #expect(downloads.allSatisfy { (try? $0.get().way.map(\.address)) == ["127.0.0.1"] })
        #expect(checks.withLock { $0 } >= before + 10, "the address is checked before each request")
        let log = server.log
        #expect(log.connections == 1, "\(log)")
        // SETTINGS_ENABLE_PUSH and SETTINGS_MAX_CONCURRENT_STREAMS.
        #expect(log.settings[2] == 0 && log.settings[3] == 100, "\(log)")
    }

    @Test func serverMayNotPush() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            let promised: [UInt8] = [0, 0, 0, 2]
            connection.send(Frame(.pushPromise, flags: 4, stream: request.stream, promised + [0x82, 0x87, 0x84]))
            Self.answer(request, connection)
        }
        defer { server.stop() }
        #expect(await TransferEngine(configuration()).fetch(server.url("/")).error?.code == .connectFailed)
        #expect(server.wait { $0.ended == $0.connections })
    }

    @Test func requestToADeniedAddressIsNotSentOnAnOpenConnection() async throws {
        let server = try HTTP2Server(certificates, handler: Self.answer)
        defer { server.stop() }
        let isAllowed = Locked(true)
        let engine = TransferEngine(configuration()) { _ in isAllowed.withLock { $0 } }
        #expect(await engine.fetch(server.url("/")).body == [1])
        isAllowed.withLock { $0 = false }
        #expect(await engine.fetch(server.url("/")).error?.code == .addressDenied)
        #expect(server.log.requests == 1)
    }

    /// The certificate of the open connection is not for the other host. libcurl would have to send the request for the other
    /// host there.
    @Test func hostsDoNotShareConnections() async throws {
        let server = try HTTP2Server(certificates, handler: Self.answer)
        defer { server.stop() }
        let engine = TransferEngine(
            configuration { $0.connectTo = ["127.0.0.1:\(server.port):localhost:\(server.port)"] })
        #expect(await engine.fetch(server.url("/")).body == [1])
        #expect(await engine.fetch("https://127.0.0.1:\(server.port)/").error?.code == .tlsFailed)
        #expect(server.log.requests == 1)
    }

    @Test func optionForbidsHTTP2() async throws {
        let server = try HTTP2Server(certificates, handler: Self.answer)
        defer { server.stop() }
        #expect(await TransferEngine(configuration { $0.usesHTTP2 = false }).fetch(server.url("/")).error != nil)
        #expect(server.log.connections == 0 && server.wait { $0.refused == 1 })
    }

    @Test func cancelResetsTheStreamAndKeepsTheConnection() async throws {
        let gate = Gate()
        let server = try HTTP2Server(certificates) { request, connection in
            switch request.number {
            case 1: Self.answer(request, connection)
            case 3: break
            default: gate.add(request, connection, until: 2, Self.answer)  // the second and the fourth
            }
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration())
        #expect(await engine.fetch(server.url("/")).body == [1])
        let (kept, cancelled) = (Collected<Outcome>(), Collected<Outcome>())
        engine.start(server.url("/"), completion: kept.add)
        #expect(server.wait { $0.requests == 2 })
        let transfer = engine.start(server.url("/"), completion: cancelled.add)
        #expect(server.wait { $0.requests == 3 })
        transfer.cancel()
        #expect(await cancelled.wait(for: 1).first?.error?.code == .cancelled)
        #expect(await engine.fetch(server.url("/")).body == [4])
        #expect(await kept.wait(for: 1).first?.body == [2])
        // The streams of a client have odd numbers.
        #expect(server.wait { $0.resets.contains(5) }, "\(server.log)")
        #expect(server.log.connections == 1)
    }

    /// libcurl would reset the stream when it uses the connection again.
    @Test func connectionEndsWithTheCancellationOfItsOnlyStream() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            if request.number != 2 { Self.answer(request, connection) }
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration())
        #expect(await engine.fetch(server.url("/")).body == [1])
        let results = Collected<Outcome>()
        let transfer = engine.start(server.url("/"), completion: results.add)
        #expect(server.wait { $0.requests == 2 })
        transfer.cancel()
        #expect(await results.wait(for: 1).first?.error?.code == .cancelled)
        #expect(server.wait { $0.ended == 1 }, "\(server.log)")
        #expect(await engine.fetch(server.url("/")).body == [3])
    }

    @Test func higherPriorityHasMoreWeight() async throws {
        let weights = Collected<Int>()
        let server = try HTTP2Server(certificates) { request, connection in
            weights.add(request.weight ?? 16)
            Self.answer(request, connection)
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.perHost = 1 })
        let results = Collected<Outcome>()
        for priority in [4, 3, 2, 1, 0] {
            engine.start(server.url("/"), order: TransferOrder(priority: priority), completion: results.add)
            _ = await results.wait(for: 5 - priority)
        }
        #expect(weights.values == [256, 128, 64, 32, 16])
    }

    /// Fetches two bodies over one connection with a minimum rate of 1,000 bytes per second.
    /// - Parameters:
    ///   - sizes: how many bytes of each body the server sends every 10 ms.
    ///   - ends: whether the bodies end.
    ///   - span: the time over which the rate is measured.
    private func fetchTwo(sizes: (Int, Int), times: Int, ends: Bool, span: Duration) async throws -> [Outcome] {
        let gate = Gate()
        let server = try HTTP2Server(certificates) { request, connection in
            guard request.number > 1 else { return Self.answer(request, connection) }
            gate.add(request, connection, until: 2) { request, connection in
                connection.send(.head(request.stream))
                guard request.stream == 5 else { return }
                let (first, second) = ([UInt8](repeating: 1, count: sizes.0), [UInt8](repeating: 1, count: sizes.1))
                for time in 1...times {
                    let isLast = ends && time == times
                    connection.send(.body(3, first, isLast: isLast), .body(5, second, isLast: isLast))
                    usleep(10_000)  // Not a wait for something: a slow server is what these tests need.
                }
            }
        }
        defer { server.stop() }
        let engine = TransferEngine(
            configuration {
                $0.minBytesPerSecond = 1_000
                $0.minRateSpan = span
                $0.retries = 0
            })
        #expect(await engine.fetch(server.url("/")).body == [1])
        let results = Collected<Outcome>()
        for _ in 0..<2 { engine.start(server.url("/"), completion: results.add) }
        return await results.wait(for: 2)
    }

    /// The first body comes slowly while the second one uses the connection. The span is much longer than a pause of the
    /// server's thread on a busy machine, and much shorter than the download.
    @Test func slowStreamOfAFastConnectionIsNotAborted() async throws {
        let results = try await fetchTwo(sizes: (1, 500), times: 400, ends: true, span: .milliseconds(1500))
        #expect(Set(results.map { $0.body?.count }) == [400, 200_000], "\(results)")
    }

    @Test func slowStreamsAreAbortedIfAllAreSlow() async throws {
        let span = Duration.milliseconds(100)
        let codes = try await fetchTwo(sizes: (6, 6), times: 300, ends: false, span: span).map { $0.error?.code }
        #expect(codes == [.stalled, .stalled], "together they are not slow, but each of them is")
    }

    // MARK: Faults

    /// The host is down after three silences. Then it would get one request at a time.
    @Test func lostConnectionIsOneSilence() async throws {
        let (first, second) = (Gate(), Gate())
        let server = try HTTP2Server(certificates) { request, connection in
            switch request.number {
            case 1: Self.answer(request, connection)
            case ...9: first.add(request, connection, until: 8) { _, connection in connection.hangUp() }
            default: second.add(request, connection, until: 8, Self.answer)
            }
        }
        defer { server.stop() }
        let engine = TransferEngine(
            configuration {
                $0.perHost = 8
                $0.patience = .seconds(60)
            })
        #expect(await engine.fetch(server.url("/")).body == [1])
        let results = Collected<Outcome>()
        for _ in 0..<8 { engine.start(server.url("/"), completion: results.add) }
        #expect(Set(await results.wait(for: 8).compactMap(\.body)) == Set((10...17).map { [$0] }))
        #expect(server.log.connections == 2, "\(server.log)")
    }

    @Test func connectionWithoutASignOfLifeIsReplaced() async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            if request.number == 1 || request.connection == 2 { Self.answer(request, connection) }
        }
        defer { server.stop() }
        let engine = TransferEngine(
            configuration {
                $0.stallTimeout = .milliseconds(500)
                $0.patience = .seconds(60)
            })
        #expect(await engine.fetch(server.url("/")).body == [1])
        #expect(await engine.fetch(server.url("/")).body == [3])
        #expect(server.log.connections == 2 && server.wait { $0.ended == 1 })
    }

    /// libcurl would let the waiting requests open a connection one after the other.
    @Test func requestsThatWaitForAConnectionFailTogether() async throws {
        let server = try HTTP2Server(certificates, handler: Self.answer)
        defer { server.stop() }
        let engine = TransferEngine(
            configuration {
                $0.perHost = 8
                $0.connectTimeout = .seconds(1)
            })
        #expect(await engine.fetch(server.url("/")).body == [1])
        server.silence()
        #expect(server.wait { $0.ended == 1 })
        let results = Collected<Outcome>()
        for _ in 0..<8 { engine.start(server.url("/"), completion: results.add) }
        let codes = await results.wait(for: 8).map(\.error?.code)
        #expect(codes.allSatisfy { $0 == .timeout }, "\(codes)")
        // A request that begins while libcurl closes the lost connection may open another one.
        #expect(server.log.silent <= 3, "\(server.log)")
    }

    /// REFUSED_STREAM, for which libcurl tries again by itself, and INTERNAL_ERROR.
    @Test(arguments: [7, 2] as [UInt32]) func serverThatResetsEveryStreamFailsItsPhotos(error: UInt32) async throws {
        let server = try HTTP2Server(certificates) { request, connection in
            connection.send(.reset(request.stream, error))
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.patience = .seconds(2) })
        let results = Collected<Outcome>()
        for _ in 0..<20 { engine.start(server.url("/"), completion: results.add) }
        let codes = await results.wait(for: 20).map(\.error?.code)
        #expect(codes.allSatisfy { $0 == .connectFailed || $0 == .hostUnreachable }, "\(codes)")
        #expect(server.log.requests < 200, "\(server.log)")
    }

    /// The outcomes of `count` requests, one after the other, of which the server resets some with `error`.
    private func outcomes(
        of count: Int, resetting numbers: ClosedRange<Int>, error: UInt32, patience: Duration
    ) async throws -> [Outcome] {
        let server = try HTTP2Server(certificates) { request, connection in
            guard numbers.contains(request.number) else { return Self.answer(request, connection) }
            connection.send(.reset(request.stream, error))
        }
        defer { server.stop() }
        let engine = TransferEngine(
            configuration {
                $0.perHost = 1
                $0.retries = 0
                $0.patience = patience
            })
        let results = Collected<Outcome>()
        for _ in 0..<count { engine.start(server.url("/"), completion: results.add) }
        return await results.wait(for: count)
    }

    /// nginx sends PROTOCOL_ERROR if a file is shorter than declared. Other files of the host can be downloaded.
    @Test func hostThatResetsSomeStreamsAnswersTheOthers() async throws {
        let outcomes = try await outcomes(of: 20, resetting: 1...8, error: 1, patience: .zero)
        #expect(outcomes.count { $0.body != nil } == 12, "\(outcomes)")
        #expect(outcomes.count { $0.error?.code == .connectFailed } == 8)
    }

    /// ENHANCE_YOUR_CALM: the server wants fewer requests.
    @Test func resetForTooManyRequestsHoldsTheHost() async throws {
        let outcomes = try await outcomes(of: 6, resetting: 3...4, error: 11, patience: .seconds(60))
        #expect(outcomes.allSatisfy { $0.body != nil }, "\(outcomes)")
    }

    @Test func streamsAfterAGoAwayUseANewConnection() async throws {
        let gate = Gate()
        let server = try HTTP2Server(certificates) { request, connection in
            guard (2...4).contains(request.number) else { return Self.answer(request, connection) }
            // The second request (stream 3) is answered, the others are not.
            gate.add(request, connection, until: 3) { request, connection in
                if request.stream == 3 { connection.send(.goAway(last: 3)) }
                if request.stream == 3 { Self.answer(request, connection) }
            }
        }
        defer { server.stop() }
        let engine = TransferEngine(configuration { $0.perHost = 3 })
        #expect(await engine.fetch(server.url("/")).body == [1])
        let results = Collected<Outcome>()
        for _ in 0..<3 { engine.start(server.url("/"), completion: results.add) }
        let bodies = await results.wait(for: 3).compactMap(\.body)
        #expect(Set(bodies) == [[2], [5], [6]])
        #expect((2...3).contains(server.log.connections), "\(server.log)")
    }

    @Test(arguments: [true, false]) func endlessHeaderEndsTheRequest(isOneBlock: Bool) async throws {
        let field = Frame.field("x-more", String(repeating: "a", count: 100))
        let fields = Array(repeatElement(field, count: 100).joined())
        let server = try HTTP2Server(certificates) { request, connection in
            let early = Frame(.headers, flags: 4, stream: request.stream, Frame.field(":status", "103") + fields)
            guard isOneBlock else {
                while connection.send(early) {}
                return
            }
            connection.send(Frame(.headers, stream: request.stream, [0x88] + fields))
            while connection.send(Frame(.continuation, stream: request.stream, fields)) {}
        }
        defer { server.stop() }
        let error = await TransferEngine(configuration()).fetch(server.url("/")).error
        // The reason depends on how much of the header libcurl has read when nghttp2 refuses the rest.
        let reasons: [TransferError.Code?] = [.tooLarge, .connectFailed, .truncated]
        #expect(reasons.contains(error?.code), "\(String(describing: error?.code))")
        server.stop()
        #expect(server.wait { $0.ended == $0.connections })
    }
}
