import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorker

/// An operation on which two workers have died: its photos run one by one, and each is reported as soon as it is final.
@Suite struct LedgerSuspectTests {
    private let batch = BatchID("batch")

    @Test func runsItsPhotosOneByOneBesideOthers() throws {
        var bench = LedgerBench(downloads: 8)
        let suspect = try bench.claim(batch, 1, photos: 4, leaseExpiries: 2)
        let other = try bench.claim(batch, 2, photos: 4, leaseExpiries: 1)
        let first = bench.begin()
        #expect(
            first.filter { $0.operation == suspect }.count == 1 && first.filter { $0.operation == other }.count == 4)
        #expect(first.allSatisfy { $0.isSuspect == ($0.operation == suspect) })
        for photo in first { bench.download(photo) }
        #expect(bench.begin().isEmpty, "the suspect's photo has not ended")
        bench.check()
        bench.filterAll()
        #expect(bench.begin().map(\.operation) == [suspect])
        bench.check()
    }

    @Test func reportsEachPhotoAtOnce() throws {
        var bench = LedgerBench()
        let suspect = try bench.claim(batch, 1, photos: 3, leaseExpiries: 3)
        let other = try bench.claim(batch, 2, photos: 3)
        for photo in bench.begin().filter({ $0.record.index % 10 == 0 }) {
            bench.download(photo)
        }
        bench.filterAll()
        #expect(bench.stateCodes(suspect) == "F.." && bench.stateCodes(other) == "F..")
        let reports = bench.ledger.reports(now: .now, olderThan: .seconds(60))
        #expect(reports.map(\.held) == [suspect])
    }

    @Test func doesNotKeepItsWorkerFromClaiming() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 2)
        let room = bench.ledger.photosWanted
        for number in 1...3 { try bench.claim(batch, number, leaseExpiries: 2) }
        _ = bench.begin()
        #expect(bench.ledger.photosWanted == room - 3, "27 that may not begin now take no room")
    }

    @Test func isRenewedFromItsClaimOnAndForgottenWhenItIsLostMeanwhile() throws {
        var bench = LedgerBench()
        let held = HeldOperation(batch: batch, number: 1, fencingToken: 7)
        bench.ledger.arriving.insert(held)
        #expect(bench.ledger.held == [held])
        _ = bench.ledger.drop(held)
        bench.ledger.giveBack(held)
        #expect(bench.ledger.held.isEmpty, "an operation that was lost is not handed back")
    }
}
