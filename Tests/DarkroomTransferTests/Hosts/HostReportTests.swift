import DarkroomConcurrency
import DarkroomTestSupport
import Testing

@testable import DarkroomTransfer

/// What an engine tells about its hosts.
@Suite(.timeLimit(.minutes(5))) struct HostReportTests {
    // MARK: Times to the first byte

    @Test func quantilesAreAccurateToAFifth() throws {
        var times = FirstByteTimes()
        #expect(times.quantile(0.5) == nil)
        for number in 1...200 { times.add(.milliseconds(number)) }
        for (share, expected) in [(0.5, 100.0), (0.95, 190)] {
            let found = try #require(times.quantile(share)) / .milliseconds(1)
            #expect((expected / 1.2...expected * 1.2).contains(found), "\(share): \(found) ms")
        }
    }

    @Test func newTimesReplaceOldOnes() throws {
        var times = FirstByteTimes()
        for _ in 0..<100_000 { times.add(.milliseconds(10)) }
        for _ in 0..<2000 { times.add(.seconds(3)) }
        #expect(try #require(times.quantile(0.5)) > .seconds(2))
        #expect(MemoryLayout<FirstByteTimes>.size == 32)
    }

    @Test(arguments: [Duration.zero, .nanoseconds(1), .seconds(-1), .seconds(1_000_000)])
    func everyTimeHasABucket(time: Duration) throws {
        var times = FirstByteTimes()
        times.add(time)
        let found = try #require(times.quantile(0.95))
        #expect(time > .seconds(1) ? found > .seconds(45) : found < .milliseconds(2))
    }

    // MARK: Transfers that have ended

    @Test func ledgerIsBoundedAndLosesNoTransfer() throws {
        var ledger = HostLedger()
        for number in 0..<20_000 {
            ledger.count("h\(number % 5000).example", group: "a", failure: number % 2 == 0 ? .timeout : nil)
            ledger.count("busy.example", group: "a")
        }
        ledger.count("busy.example", group: "a", failure: .cancelled)
        ledger.count("", group: "a")
        let counts = ledger.counts(.now)
        #expect(counts.count <= HostLedger.mostHosts)
        #expect(counts["busy.example"]?["a"]?.downloaded == 20_000, "the busiest host is one of the others")
        let hosts = counts.values.reduce(0) { $0 + ($1["a"]?.ended ?? 0) }
        #expect(hosts + (ledger.others["a"]?.ended ?? 0) == 40_000)
        #expect(ledger.others["a"]?.failed[.timeout] ?? 0 > 9000)
    }

    @Test func ledgerForgetsTheGroupsThatWereUsedLongestAgo() {
        var ledger = HostLedger()
        for number in 0..<1000 {
            ledger.count("a.example", group: "old but used")
            ledger.count("a.example", group: "\(number)")
        }
        let groups = ledger.counts(.now)["a.example"] ?? [:]
        #expect(groups.count == HostLedger.mostGroups)
        #expect(groups["old but used"]?.downloaded == 1000)
        #expect(groups["999"] != nil && groups["0"] == nil)
    }

    @Test func serverCannotCauseAnyNumberOfCodes() {
        var counts = HostReport.Counts()
        for status in 400..<1400 { counts.count(.httpClientError(status)) }
        #expect(counts.failed.count <= 33)
        #expect(counts.ended == 1000)
    }

    @Test func hostsThatHoldUpMostComeFirst() {
        func report(_ host: String, _ state: HostReport.State, waiting: Int, downloaded: Int = 0) -> HostReport {
            var report = HostReport(host, nil, ["g": HostReport.Counts(waiting: waiting, downloaded: downloaded)])
            report.state = state
            return report
        }
        let later = ContinuousClock.now + .seconds(9)
        let overview = HostOverview(
            [
                report("done", .up, waiting: 0, downloaded: 9), report("up", .up, waiting: 5),
                report("down", .down(since: .now, next: later), waiting: 5), report("most", .up, waiting: 6),
                report("paused", .paused(until: later), waiting: 5),
            ] + (0..<100).map { report("h\($0)", .up, waiting: 0, downloaded: 1) }, others: ["g": .init(downloaded: 7)])
        #expect(overview.hosts.prefix(5).map(\.host) == ["most", "down", "paused", "up", "done"])
        #expect(overview.hosts.count == HostOverview.most)
        #expect(overview.others["g"]?.downloaded == 105 - HostOverview.most + 7)
    }

    // MARK: Engine

    /// Asks the engine until its overview meets the condition.
    private func hosts(
        of engine: TransferEngine, until condition: ([String: HostReport]) -> Bool
    ) throws -> [String: HostReport] {
        var found: [String: HostReport] = [:]
        try waitUntil("the engine tells: \(found)") {
            found = Dictionary(uniqueKeysWithValues: engine.hosts.hosts.map { ($0.host, $0) })
            return condition(found)
        }
        return found
    }

    @Test func engineTellsItsHosts() async throws {
        let server = try HostileServer([
            "/busy": .answer(status: 429, headers: ["Retry-After: 600"]), "/b": .answer(body: [2]),
        ])
        defer { server.stop() }
        let engine = TransferEngine(
            .local {
                $0.perHost = 2
                $0.rate = 500
                $0.patience = .seconds(3600)
            })
        defer { engine.shutdown() }
        for number in 0..<7 {
            engine.start(server.url("/busy"), order: TransferOrder(group: number < 4 ? "one" : "two")) { _ in }
        }
        let other = "http://localhost:\(server.port)"
        let results = Collected<Result<Download, TransferError>>()
        for path in ["/b", "/b", "/gone"] {
            engine.start(other + path, order: TransferOrder(group: "two"), completion: results.add)
        }
        _ = await results.wait(for: 3)
        let found = try hosts(of: engine) { hosts in
            guard case .paused = hosts["127.0.0.1"]?.state else { return false }
            return hosts["127.0.0.1"]?.running == 0 && hosts["localhost"]?.running == 0
        }
        let busy = try #require(found["127.0.0.1"])
        #expect(busy.groups == ["one": .init(waiting: 4), "two": .init(waiting: 3)])
        #expect(busy.allowed == 1 && busy.isAllowedFixed, "a single request tries a host that is paused")
        let up = try #require(found["localhost"])
        #expect(up.state == .up && up.allowed == 2 && up.isRateFixed && up.rate == 500)
        #expect(up.groups == ["two": .init(downloaded: 2, failed: [.httpClientError(404): 1])])
        #expect(try #require(up.firstByte).median > .zero)
        #expect(engine.hosts.hosts.map(\.host) == ["127.0.0.1", "localhost"])
    }

    @Test func hostThatDoesNotAnswerIsDown() async throws {
        let engine = TransferEngine(.local { $0.patience = .seconds(3600) })
        defer { engine.shutdown() }
        for _ in 0..<10 { engine.start("http://127.0.0.1:9/", order: TransferOrder(group: "g")) { _ in } }
        let found = try hosts(of: engine) { hosts in
            guard case .down = hosts["127.0.0.1"]?.state else { return false }
            // Requests that were under way when the host went down wait a moment later.
            return hosts["127.0.0.1"]?.groups["g"].map { $0.waiting >= 9 } ?? false
        }
        #expect(found["127.0.0.1"]?.firstByte == nil)
    }

    @Test func boardIsAskedOnceASecond() {
        let board = HostBoard()
        let asked = Locked(0)
        let start = ContinuousClock.now
        func read(_ time: Duration) -> HostOverview {
            board.read(start + time) { asked.withLock { $0 += 1 } }
        }
        #expect(read(.zero).hosts.isEmpty)
        board.publish(HostOverview([HostReport("a", nil, [:])], others: [:]))
        #expect(read(.milliseconds(900)).hosts.map(\.host) == ["a"])
        _ = read(.milliseconds(999))
        #expect(asked.withLock { $0 } == 1)
        _ = read(.seconds(1))
        #expect(asked.withLock { $0 } == 2)
    }

    /// A worker may have photos of as many hosts as photos.
    @Test func overviewOfManyHostsIsFast() async throws {
        let engine = TransferEngine(.local())
        defer { engine.shutdown() }
        let ended = Collected<Result<Download, TransferError>>()
        for number in 0..<20_000 {
            let order = TransferOrder(group: "\(number % 8)")
            engine.start(
                "http://127.\(number >> 16).\(number >> 8 & 255).\(number & 255):9/", order: order,
                completion: ended.add)
        }
        _ = try hosts(of: engine) { $0.count == HostOverview.most }
        _ = await ended.wait(for: 20_000)
        _ = engine.hosts
        let started = ContinuousClock.now
        let found = try hosts(of: engine) { _ in engine.hosts.others.values.reduce(0) { $0 + $1.ended } > 15_000 }
        #expect(ContinuousClock.now - started < .seconds(20))
        #expect(found.count == HostOverview.most)
    }

    /// Transfers that another engine continues later wait, too.
    @Test func deferredTransfersCountUntilTheyAreDue() {
        var ledger = HostLedger()
        let now = ContinuousClock.now
        ledger.count("a.example", group: "batch")
        ledger.count(deferred: ["a.example": 3, "b.example": 1], group: "batch", until: now + .seconds(20), now)
        ledger.count(deferred: ["a.example": 2], group: "batch", until: now + .seconds(40), now)
        func waiting(after seconds: Int) -> [Int] {
            let counts = ledger.counts(now + .seconds(seconds))
            return ["a.example", "b.example"].map { counts[$0]?["batch"]?.waiting ?? 0 }
        }
        #expect(waiting(after: 19) == [5, 1] && waiting(after: 21) == [2, 0] && waiting(after: 41) == [0, 0])
        #expect(ledger.counts(now)["a.example"]?["batch"]?.downloaded == 1)
        for _ in 0..<3 {
            let many = Dictionary(uniqueKeysWithValues: (0..<HostLedger.mostDeferred).map { ("h\($0)", 1) })
            ledger.count(deferred: many, group: "batch", until: now + .seconds(20), now)
        }
        #expect(ledger.counts(now).values.reduce(0) { $0 + ($1["batch"]?.waiting ?? 0) } == HostLedger.mostDeferred)
    }
}
