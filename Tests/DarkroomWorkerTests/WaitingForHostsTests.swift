import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Photos that wait for their hosts, as the ledger counts them.
@Suite struct WaitingLedgerTests {
    let slow = BatchID("slow")
    let other = BatchID("other")

    /// Begins all that may begin; what is of `batch`, or of any when that is nil, waits for its host.
    private func begin(_ bench: inout LedgerBench, waiting batch: BatchID?) -> [PhotoInProgress] {
        var begun: [PhotoInProgress] = []
        while true {
            let photos = bench.ledger.begin(urgently: true)
            guard !photos.isEmpty else { return begun }
            for photo in photos where batch.map({ photo.operation.batch == $0 }) ?? true {
                _ = bench.ledger.waits(photo)
            }
            begun += photos
        }
    }

    @Test func whatWaitsForItsHostLeavesItsPlaceToOthers() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        try bench.claim(slow)
        try bench.claim(other)
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count { $0.operation.batch == other } == 2)
        #expect(bench.ledger.transfers == 2)
        bench.check()
    }

    @Test func whatWaitsIsBounded() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        for number in 1...4 { try bench.claim(slow, number) }
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count == bench.ledger.maxWaitingOfBatch)
        #expect(bench.ledger.unwanted == [slow], "nothing more of it is claimed")
        bench.check()
    }

    @Test func batchesThatWaitForTheirHostsKeepNoOtherFromBeingClaimed() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let slower = BatchID("slower")
        for number in 1...4 { try bench.claim(slow, number) }
        _ = begin(&bench, waiting: slow)
        for number in 1...4 { try bench.claim(slower, number) }
        _ = begin(&bench, waiting: slower)
        #expect(Set(bench.ledger.unwanted) == [slow, slower])
        #expect(bench.ledger.photosWanted == bench.ledger.window)
        let wants = bench.ledger.wants
        #expect(wants.lowest == .veryLow && wants.takesOthers)
        try bench.claim(other)
        let begun = bench.ledger.begin(urgently: true)
        #expect(!begun.isEmpty && begun.allSatisfy { $0.operation.batch == other })
        bench.check()
    }

    @Test func aCrowdOfWaitingPhotosKeepsNoOtherFromBeginning() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let crowd = (0..<300).compactMap { BatchID("slow\($0)") }
        for batch in crowd {
            try bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.ledger.waiting[Priority.normal.rank] < WorkerLedger.maxWaiting + 300 * 2, "what waits is bounded")
        try bench.claim(other)
        #expect(bench.begin().count { $0.operation.batch == other } == 2)
        bench.check()
        #expect(bench.ledger.photosWanted > 0)
        for batch in (0..<300).compactMap({ BatchID("slower\($0)") }) where bench.ledger.photosWanted > 0 {
            try bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.ledger.batches.count < WorkerLedger.maxStalled + 10, "what is held of stalled batches is bounded")
        bench.check()
    }

    @Test func aBatchWhoseHostAnswersGoesOn() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        for number in 1...4 { try bench.claim(slow, number) }
        let waiting = begin(&bench, waiting: slow)
        #expect(bench.ledger.begin(urgently: true).isEmpty)
        let permission = bench.ledger.mayDownload(waiting[0])
        #expect(permission == .again || permission == .yes)
        bench.download(waiting[0])
        #expect(bench.ledger.unwanted.isEmpty)
        #expect(!bench.ledger.begin(urgently: true).isEmpty)
        bench.check()
    }

    @Test func whatWaitsCountsWhereBatchesTakeTurns() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        try bench.claim(slow)
        for _ in 1...2 {
            for photo in bench.ledger.begin(urgently: true) { _ = bench.ledger.waits(photo) }
        }
        #expect(bench.ledger.batches[slow]?.waiting == 4)
        try bench.claim(other)
        #expect(bench.ledger.begin(urgently: true).map(\.operation.batch) == [other, other])
        bench.check()
    }

    @Test func whatIsMoreUrgentWaitsForNoPlaceOfOthers() throws {
        for downloads in [1, 8] {
            var bench = LedgerBench(downloads: downloads, filtrations: 1)
            try bench.claim(BatchID("lowest"), priority: .veryLow)
            for number in 2...4 { try bench.claim(BatchID("lowest"), number) }
            _ = bench.begin()
            for priority in Priority.allCases.dropFirst() {
                let batch = try #require(BatchID("batch-\(priority)"))
                for number in 1...4 { try bench.claim(batch, number, priority: priority) }
                let begun = bench.begin()
                #expect(!begun.isEmpty && begun.allSatisfy { $0.operation.batch == batch }, "\(priority)")
                #expect(bench.ledger.downloading[priority.rank] <= downloads)
            }
            bench.check()
        }
    }

    @Test func whatWaitsTakesAPlaceAgainWhenItBegins() throws {
        var bench = LedgerBench(downloads: 1, filtrations: 1)
        try bench.claim(slow)
        let first = try #require(bench.ledger.begin(urgently: true).first)
        _ = bench.ledger.waits(first)
        #expect(bench.ledger.transfers == 0)
        let begins = (bench.ledger.mayDownload(first), bench.ledger.mayDownload(first))
        #expect(begins == (.yes, .again))
        #expect(bench.ledger.transfers == 1)
        #expect(bench.ledger.begin(urgently: true).isEmpty)
        _ = bench.ledger.waits(first)  // before another attempt
        let another = bench.ledger.mayDownload(first)
        #expect(another == .again, "its download has begun before")
        bench.download(first)
        bench.check()
    }

    @Test func whatWaitsIsTakenBackWhenItsBatchIsSuspended() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        try bench.claim(slow)
        let waiting = try #require(bench.ledger.begin(urgently: true).first)
        _ = bench.ledger.waits(waiting)
        let orders = bench.steer(slow) { $0.isSuspended = true }
        #expect(orders.withdrawn.contains { $0 === waiting })
        _ = bench.ledger.downloadEnded(waiting, nil)
        bench.check()
    }

    @Test func whatWaitsIsTakenBackWhenTheWorkerStops() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        try bench.claim(slow)
        let begun = bench.begin()
        _ = bench.ledger.waits(begun[0])
        #expect(bench.ledger.stop().map(\.record.index) == [begun[0].record.index])
        bench.check()
    }

    @Test func whatWaitsAndWhatRunsMovesWithItsBatch() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        try bench.claim(slow)
        let begun = bench.begin()
        _ = bench.ledger.waits(begun[0])
        let orders = bench.steer(slow) { $0.priority = .high }
        #expect(orders.reordered.map(\.record.index).sorted() == begun.map(\.record.index))
        bench.check()
    }
}

/// Photos that wait for their hosts, with a worker and servers.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(2))) struct WaitingForHostsTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    private func worker(_ hosts: [String: UInt16], _ change: (inout WorkerConfiguration) -> Void = { _ in }) throws
        -> Worker
    {
        try darkroom.worker {
            $0.downloads = 8
            $0.transfer.connectTo = hosts.map { "\($0.key):80:127.0.0.1:\($0.value)" }
            change(&$0)
        }
    }

    @Test func slowHostsOfAListThatIsNotUrgentHoldUpNothingUrgent() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        let hosts = (0..<4).map { "slow\($0).example" }
        let worker = try worker(
            Dictionary(uniqueKeysWithValues: hosts.map { ($0, slow.port) } + [("fast.example", fast.port)]))
        let low = try darkroom.submit(
            (0..<400).map { "http://\(hosts[$0 % 4])/photo" }, darkroom.options { $0.priority = .veryLow })
        #expect(await slow.wait { $0.running == 8 }, "as many run as may")
        let high = try darkroom.submit(
            (0..<20).map { _ in "http://fast.example/photo" },
            darkroom.options {
                $0.priority = .veryHigh
                $0.output = darkroom.folder + "/high"
            })
        try darkroom.wait(high)
        #expect(slow.log.running == 8)
        _ = try darkroom.store.perform(darkroom.store.cancel(low))
        try darkroom.wait(low)
        worker.stop()
        worker.wait()
    }

    @Test func aSlowHostHoldsUpNoOtherHost() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        let worker = try worker(["slow.example": slow.port, "fast.example": fast.port])
        let blocked = try darkroom.submit(
            (0..<400).map { _ in "http://slow.example/photo" }, darkroom.options { $0.operationSize = 10 })
        #expect(await slow.wait { $0.running == 6 })
        let free = try darkroom.submit(
            (0..<100).map { _ in "http://fast.example/photo" },
            darkroom.options { $0.output = darkroom.folder + "/free" })
        try darkroom.wait(free)
        #expect(slow.log.running == 6)
        #expect(worker.core.withLedger { $0.inProgress.count } < 200, "what waits is bounded")
        _ = try darkroom.store.perform(darkroom.store.cancel(blocked))
        try darkroom.wait(blocked)
        worker.stop()
        worker.wait()
    }

    @Test func listsOfASlowHostHoldUpNoOtherList() async throws {
        let slow = try HostileServer(["/photo": .held(.answer())])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [slow, fast] { server.stop() } }
        let worker = try worker(["slow.example": slow.port, "fast.example": fast.port])
        let blocked = try (0..<5).map { number in
            try darkroom.submit(
                (0..<400).map { _ in "http://slow.example/photo" },
                darkroom.options { $0.output = darkroom.folder + "/slow\(number)" })
        }
        #expect(await slow.wait { $0.running == 6 })
        // All that the worker takes of them waits.
        for id in blocked { try darkroom.wait(id, "begun") { $0.executing > 0 } }
        for priority in [Priority.normal, .low] {
            let free = try darkroom.submit(
                (0..<20).map { _ in "http://fast.example/photo" },
                darkroom.options {
                    $0.output = darkroom.folder + "/\(priority)"
                    $0.priority = priority
                })
            try darkroom.wait(free, within: 20)
        }
        #expect(slow.log.running == 6)
        for id in blocked {
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try darkroom.wait(id)
        }
        worker.stop()
        worker.wait()
    }

    @Test func photosThatPauseBeforeAnotherAttemptHoldUpNothing() async throws {
        let busy = try HostileServer(["/photo": .answer(status: 503, headers: ["Retry-After: 50"])])
        let fast = try HostileServer(["/photo": .answer(body: [1])])
        defer { for server in [busy, fast] { server.stop() } }
        let worker = try worker(["busy.example": busy.port, "fast.example": fast.port]) { $0.transfer.retries = 3 }
        let urls = (0..<24).map { "http://\($0 < 12 ? "busy" : "fast").example/photo" }
        let id = try darkroom.submit(urls, darkroom.options())
        try darkroom.wait(id, "the photos of the other host") { $0.counts.final == 12 }
        #expect(busy.log.requests["/photo"] == 12, "each was tried once")
        _ = try darkroom.store.perform(darkroom.store.cancel(id))
        try darkroom.wait(id)
        worker.stop()
        worker.wait()
    }

    @Test func photosThatPausedTakeNoMorePlacesThanThereAre() throws {
        let route = HostileServer.Route.inTurn([
            .answer(status: 503, headers: ["Retry-After: 1"]), .drip(body: [1, 2], pause: .milliseconds(200)),
        ])
        let server = try HostileServer(Dictionary(uniqueKeysWithValues: (0..<6).map { ("/\($0)", route) }))
        defer { server.stop() }
        let worker = try worker([:]) {
            $0.downloads = 2
            $0.filtrations = 1
            $0.transfer.retries = 1
        }
        let id = try darkroom.submit((0..<6).map { server.url("/\($0)") }, darkroom.options())
        try darkroom.wait(id)
        #expect(server.log.requests.values.reduce(0, +) == 12)
        #expect(server.log.mostRunning == 2, "downloads at once")
        worker.stop()
        worker.wait()
    }
}
