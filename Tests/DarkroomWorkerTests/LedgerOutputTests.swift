import DarkroomModel
import DarkroomStore
import Testing

@testable import DarkroomWorker

/// What the ledger decides while outputs cannot be written: no server, no threads, no disk.
@Suite struct LedgerOutputTests {
    let one = BatchID("one")
    let two = BatchID("two")

    @Test func batchWhoseDiskIsFullBeginsNothingAndOthersGoOn() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        try bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.ledger.filtrationsToQueue()
        #expect(queued.count == 1)
        try bench.claim(two)
        bench.bar(one)
        bench.check()
        #expect(bench.ledger.barred == [one: "no room for one"])
        // What was in the local queue is taken back, with its bytes.
        let mayFilter = bench.ledger.mayFilter(queued[0].photo, queued[0].ticket)
        #expect(!mayFilter)
        #expect(bench.ledger.bytesHeld == 1000)
        for photo in photos.dropFirst() { bench.download(photo) }
        let others = bench.runAll()
        #expect(others.count == 10 && others.allSatisfy { $0.operation.batch == two })
        bench.free()
        #expect(bench.ledger.barred.isEmpty)
        let rest = bench.runAll()
        #expect(rest.count == 10)
        bench.check()
    }

    @Test func whatIsNotDownloadedIsHandedBackAtOnceAndTheRestAfterAWhile() throws {
        var bench = LedgerBench(downloads: 10, filtrations: 1)
        let first = try bench.claim(one, 1)
        let second = try bench.claim(one, 2)
        for photo in bench.begin().prefix(10) { bench.download(photo) }
        bench.bar(one)
        let now = ContinuousClock.now
        let leaving = [0, 29, 31].map { bench.ledger.toHandBack(now: now + .seconds($0)) }
        #expect(leaving[0] == [second] && leaving[1] == [second] && Set(leaving[2]) == [first, second])
        bench.check()
    }

    @Test func whatCannotBeReportedIsHandedBackAfterAWhile() throws {
        var bench = LedgerBench(downloads: 10, filtrations: 1)
        let held = try bench.claim(one)
        _ = bench.runAll()
        bench.bar(one)
        let now = ContinuousClock.now
        let early = bench.ledger.toHandBack(now: now)
        #expect(early.isEmpty)
        #expect(bench.ledger.reports(now: now, olderThan: .zero).count == 1, "it is tried again until then")
        let late = bench.ledger.toHandBack(now: now + .seconds(31))
        #expect(late == [held])
        bench.check()
    }

    /// Otherwise a lost manifest file would be left, of which the next claim knows nothing.
    @Test func reportThatTellsOfDownloadsOnlyLeavesTheManifestUnreported() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one)
        for photo in bench.begin().prefix(2) { bench.download(photo) }
        let early = try #require(bench.ledger.reports(now: .now, olderThan: .zero).first)
        bench.ledger.reported(early, now: .now)
        _ = bench.filterAll()
        #expect(bench.ledger.operations[held]?.isUnreported == true)
        let late = try #require(bench.ledger.reports(now: .now, olderThan: .zero).first)
        #expect(bench.ledger.operations[held]?.isUnreported == true, "it is only drafted")
        bench.ledger.reported(late, now: .now)
        #expect(bench.ledger.operations[held]?.isUnreported == false)
    }

    @Test func whatIsGivenUpIsRenewedUntilItIsHandedBackAndReportsNothing() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one)
        for photo in bench.begin().prefix(2) { bench.download(photo) }
        _ = bench.filterAll()
        let stopped = bench.ledger.giveUp(held)
        #expect(stopped.count == 2, "the downloads go on")
        #expect(bench.ledger.held == [held] && bench.ledger.reports(now: .now, olderThan: .zero).isEmpty)
        let leaving = bench.ledger.toHandBack(now: .now)
        #expect(leaving == [held])
        _ = bench.ledger.drop(held)
        let again = bench.ledger.giveUp(held)
        #expect(again.isEmpty && bench.ledger.held.isEmpty)
        bench.check()
    }

    @Test func allThatIsWrittenToAFullDiskWaitsAndIsSaidOnce() throws {
        var bench = LedgerBench()
        try bench.claim(one)
        try bench.claim(two)
        let (first, second) = (bench.bar(one, device: 7, and: [one, two]).isNews, bench.bar(two, device: 7).isNews)
        #expect(first && !second)
        #expect(Set(bench.ledger.barred.keys) == [one, two])
        // One that was claimed just now writes there, too.
        let three = BatchID("three")
        let (why, whyNot) = (bench.ledger.bar(three, onDevice: 7), bench.ledger.bar(three, onDevice: 8))
        #expect(why == "no room for one" && whyNot == nil)
        try bench.claim(three)
        let begun = bench.begin()
        #expect(begun.isEmpty)
        // The folder of the first is gone now: that is nothing to the others.
        let wait = try #require(bench.ledger.outputWaits.first)
        let place = OutputPlace(folder: "/nowhere", sign: "manifest/one")
        let orders = bench.ledger.changed(
            wait.number, to: OutputObstacle(.away, place, folder: "", bytes: 0, detail: "gone"))
        #expect(orders.isNews && bench.ledger.barred == [one: "gone"])
        let others = bench.begin()
        #expect(!others.isEmpty && others.allSatisfy { $0.operation.batch != one })
        bench.check()
    }

    @Test func obstacleOfWhichNothingIsHeldIsForgottenAfterAWhile() throws {
        var bench = LedgerBench()
        let held = try bench.claim(one)
        bench.bar(one, kind: .away)
        let now = ContinuousClock.now
        let whileHeld = [0, 1000].map { bench.ledger.outputsToLook(now: now + .seconds($0)).count }
        #expect(whileHeld == [1, 1])
        _ = bench.ledger.drop(held)
        let after = [1001, 1600, 1602].map { bench.ledger.outputsToLook(now: now + .seconds($0)).count }
        #expect(after == [1, 1, 0])
    }
}
