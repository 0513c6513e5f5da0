import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// Decisions of the worker state while outputs cannot be written, without a server, threads or a disk.
@Suite struct StorageOutageTests {
    let one = BatchID("one")
    let two = BatchID("two")

    @Test func fullDiskStopsOnlyItsBatches() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.queueFilters()
        #expect(queued.count == 1)
        bench.claim(two)
        bench.block(one)
        bench.check()
        #expect(bench.blockedBatches == [one: "no room for one"])
        // The queued filter is withdrawn. Its bytes stay.
        let mayFilter = bench.filterBegins(queued[0])
        #expect(!mayFilter)
        #expect(bench.bytesHeld == 1000)
        for photo in photos.dropFirst() { bench.download(photo) }
        let others = bench.runAll()
        #expect(others.count == 10 && others.allSatisfy { $0.operation.batch == two })
        bench.unblock()
        #expect(bench.blockedBatches.isEmpty)
        let rest = bench.runAll()
        #expect(rest.count == 10)
        bench.check()
    }

    @Test func releasesUndownloadedOperationsAtOnceAndOthersAfter30Seconds() throws {
        var bench = StateBench(downloads: 10, filtrations: 1)
        let first = bench.claim(one, 1)
        let second = bench.claim(one, 2)
        for photo in bench.begin().prefix(10) { bench.download(photo) }
        bench.block(one)
        let now = ContinuousClock.now
        let leaving = [0, 29, 31].map { bench.releasesDue(now: now + .seconds($0)) }
        #expect(leaving[0] == [second] && leaving[1] == [second] && Set(leaving[2]) == [first, second])
        bench.check()
    }

    @Test func releasesOperationsThatCannotBeReportedAfter30Seconds() throws {
        var bench = StateBench(downloads: 10, filtrations: 1)
        let held = bench.claim(one)
        _ = bench.runAll()
        bench.block(one)
        let now = ContinuousClock.now
        let early = bench.releasesDue(now: now)
        #expect(early.isEmpty)
        #expect(bench.reportsDue(now: now, olderThan: .zero).count == 1, "the report must be retried until the release")
        let late = bench.releasesDue(now: now + .seconds(31))
        #expect(late == [held])
        bench.check()
    }

    /// A report of downloads alone must not count as a report of the manifest file; otherwise, the next claim of the
    /// operation would not know the file.
    @Test func reportOfDownloadsOnlyDoesNotReportTheManifest() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one)
        for photo in bench.begin().prefix(2) { bench.download(photo) }
        let early = try #require(bench.reportsDue(now: .now, olderThan: .zero).first)
        bench.reported(early, now: .now)
        _ = bench.filterAll()
        #expect(bench.isUnreported(held) == true)
        let late = try #require(bench.reportsDue(now: .now, olderThan: .zero).first)
        #expect(bench.isUnreported(held) == true, "a drafted report counts as sent")
        bench.reported(late, now: .now)
        #expect(bench.isUnreported(held) == false)
    }

    @Test func operationWithLostFilesIsRenewedUntilItsReleaseAndNotReported() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one)
        for photo in bench.begin().prefix(2) { bench.download(photo) }
        _ = bench.filterAll()
        let stopped = bench.filesLost(held)
        #expect(stopped.count == 2, "the downloads were not cancelled")
        #expect(bench.held == [held] && bench.reportsDue(now: .now, olderThan: .zero).isEmpty)
        let leaving = bench.releasesDue(now: .now)
        #expect(leaving == [held])
        _ = bench.lost(held)
        let again = bench.filesLost(held)
        #expect(again.isEmpty && bench.held.isEmpty)
        bench.check()
    }

    @Test func fullDiskBlocksAllItsBatchesAndIsLoggedOnce() throws {
        var bench = StateBench()
        let disk = StorageDomain("disk 7")
        bench.claim(one, domains: [disk])
        bench.claim(two, domains: [StorageDomain("disk 6"), disk])
        let (first, second) = (bench.block(one, domain: disk), bench.block(two, domain: disk))
        #expect(first.beginsOutage && !second.beginsOutage)
        #expect(Set(bench.blockedBatches.keys) == [one, two])
        // A newly claimed batch also writes to this disk.
        let three = BatchID("three")
        let why = bench.storageBlocked(three, in: disk)
        let whyNot = bench.storageBlocked(three, in: StorageDomain("disk 8"))
        #expect(why == "no room for one" && whyNot == nil)
        bench.claim(three)
        let begun = bench.begin()
        #expect(begun.isEmpty)
        // Now the folder of the first batch is missing. This does not affect the other batches.
        let wait = try #require(bench.outages.first)
        let effects = bench.storageChanged(wait.number, to: "gone")
        #expect(effects.schedulesWork && bench.blockedBatches == [one: "gone"])
        let others = bench.begin()
        #expect(!others.isEmpty && others.allSatisfy { $0.operation.batch != one })
        bench.check()
    }

    @Test func outageWithoutHeldOperationsEndsAfterTenMinutes() throws {
        var bench = StateBench()
        let held = bench.claim(one)
        bench.block(one)
        let now = ContinuousClock.now
        let whileHeld = [0, 1000].map { bench.storageChecksDue(now: now + .seconds($0)).count }
        #expect(whileHeld == [1, 1])
        _ = bench.lost(held)
        let after = [1001, 1600, 1602].map { bench.storageChecksDue(now: now + .seconds($0)).count }
        #expect(after == [1, 1, 0])
    }
}
