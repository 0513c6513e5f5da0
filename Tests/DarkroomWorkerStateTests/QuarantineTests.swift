import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// A quarantined operation (two lease expiries): its photos run one at a time, and each is reported once it is final.
@Suite struct QuarantineTests {
    private let batch = BatchID("batch")

    @Test func runsItsPhotosOneAtATimeBesideOtherOperations() throws {
        var bench = StateBench(downloads: 8)
        let quarantined = bench.claim(batch, 1, photos: 4, leaseExpiries: 2)
        let other = bench.claim(batch, 2, photos: 4, leaseExpiries: 1)
        let first = bench.begin()
        #expect(
            first.filter { $0.operation == quarantined }.count == 1 && first.filter { $0.operation == other }.count == 4
        )
        #expect(first.allSatisfy { $0.isQuarantined == ($0.operation == quarantined) })
        for photo in first { bench.download(photo) }
        #expect(bench.begin().isEmpty, "a second photo of the quarantined operation started")
        bench.check()
        bench.filterAll()
        #expect(bench.begin().map(\.operation) == [quarantined])
        bench.check()
    }

    @Test func reportsEachPhotoAtOnce() throws {
        var bench = StateBench()
        let quarantined = bench.claim(batch, 1, photos: 3, leaseExpiries: 3)
        let other = bench.claim(batch, 2, photos: 3)
        for photo in bench.begin().filter({ $0.record.index % 10 == 0 }) {
            bench.download(photo)
        }
        bench.filterAll()
        #expect(bench.stateCodes(quarantined) == "F.." && bench.stateCodes(other) == "F..")
        let reports = bench.reportsDue(now: .now, olderThan: .seconds(60))
        #expect(reports.map(\.held) == [quarantined])
    }

    @Test func waitingPhotosTakeNoRoomOfTheWorker() throws {
        var bench = StateBench(downloads: 4, filtrations: 2)
        let room = bench.photosWanted
        for number in 1...3 { bench.claim(batch, number, leaseExpiries: 2) }
        _ = bench.begin()
        #expect(bench.photosWanted == room - 3, "27 photos that may not start yet must take no room")
    }

    @Test func renewsAClaimedOperationUntilItIsLost() throws {
        var bench = StateBench()
        let held = HeldOperation(batch: batch, number: 1, fencingToken: 7)
        bench.claimed(held)
        #expect(bench.held == [held])
        _ = bench.lost(held)
        bench.declined(held)
        #expect(bench.held.isEmpty, "a lost operation is still held")
    }

    @Test func onlyQuarantinedOperationsWithoutProgressAreProbed() throws {
        var bench = StateBench()
        let quarantined = bench.claim(batch, 1, photos: 3, leaseExpiries: 2)
        let other = bench.claim(batch, 2, photos: 3, leaseExpiries: 1)
        let begun = bench.begin()
        func probe(_ held: HeldOperation, begins: Bool) -> String? {
            begun.first { $0.operation == held }.flatMap { bench.crashProbe(of: $0, begins: begins) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(probe(quarantined, begins: true) == "..." && probe(quarantined, begins: false) == "N..")
        #expect(probe(other, begins: true) == nil)
        for photo in begun where photo.operation == quarantined { bench.download(photo) }
        bench.filterAll()
        #expect(probe(quarantined, begins: true) == nil, "an operation with progress needs no crash probe")
    }
}
