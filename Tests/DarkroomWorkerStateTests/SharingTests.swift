import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorkerState

/// A worker releases operations for a worker that is idle.
@Suite struct SharingTests {
    private let batch: BatchID = "shared"

    /// The numbers of the operations that the worker releases.
    private func released(_ bench: inout StateBench) -> [Int] { bench.releases(now: .now).map(\.held.number) }

    /// Claims operations of 10 photos. The photos of the first 5 operations have begun and wait for their turn.
    private func bench(operations: Int) -> StateBench {
        var bench = StateBench(downloads: 50, filtrations: 1)
        for number in 1...operations { bench.claim(batch, number) }
        for photo in bench.beginDownloads(urgently: true).prefix(50) { bench.downloadWaits(photo) }
        return bench
    }

    @Test func latestOperationsAreReleasedAtOnce() {
        var bench = bench(operations: 12)
        let before = released(&bench)
        #expect(before.isEmpty)
        bench.idleWorker(share: 4)
        let releases = bench.releases(now: .now)
        #expect(releases.map(\.held.number) == [12, 11, 10, 9, 8, 7, 6, 5])
        #expect(releases.allSatisfy { $0.due == nil && $0.waitingURLs.isEmpty })
        bench.check()
        // The reply may be lost.
        let again = released(&bench)
        #expect(again.sorted() == Array(5...12))
        for release in releases { bench.lost(release.held) }
        #expect(bench.localOperations.map(\.number) == [1, 2, 3, 4])
        let rest = released(&bench)
        #expect(rest.isEmpty)
        bench.check()
    }

    @Test func workerDoesNotTakeBackWhatItHasReleased() {
        var bench = bench(operations: 6)
        bench.idleWorker(share: 3)
        for release in bench.releases(now: .now) { bench.lost(release.held) }
        #expect(bench.demand.lowest == .high && !bench.demand.takesOthers, "the operations have the priority normal")
        bench.ended(bench.localOperations[0])
        #expect(bench.demand.lowest == .veryLow, "an operation that has ended leaves its place to another one")
    }

    @Test func operationsWithPhotosUnderWayStay() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        for number in 1...3 { bench.claim(batch, number, photos: 1) }
        let photos = bench.beginDownloads(urgently: true)
        try #require(photos.count == 3)
        _ = bench.downloadBegins(photos[1])
        _ = bench.downloadCarries(photos[2])
        bench.idleWorker(share: 1)
        let numbers = released(&bench)
        #expect(numbers == [1])
        bench.check()
    }

    @Test func outcomesAreReportedFirst() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        for number in 1...2 { bench.claim(batch, number, photos: 2) }
        let photos = bench.beginDownloads(urgently: true)
        for photo in photos.dropLast() { bench.downloadWaits(photo) }
        bench.downloadEnded(photos[3], StateBench.failure(photos[3]))
        bench.idleWorker(share: 1)
        let numbers = released(&bench)
        #expect(numbers == [1], "the latest operation has an outcome to report")
        bench.check()
    }

    /// Another worker could do no more for them than wait.
    @Test func operationsThatWaitOnlyForServersStay() {
        var bench = StateBench(downloads: 8, filtrations: 2)
        for number in 1...3 { bench.claim(batch, number, photos: 1) }
        for photo in bench.beginDownloads(urgently: true) { bench.downloadWaits(photo, isIdle: true) }
        bench.idleWorker(share: 1)
        let numbers = released(&bench)
        #expect(numbers.isEmpty)
        #expect(bench.demand.lowest == .veryLow, "they do not count as its share")
        bench.check()
    }

    @Test func quarantinedAndFocusedOperationsStay() {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, 1, leaseExpiries: 2)
        bench.claim(batch, 2)
        bench.control(batch) { $0.focus = .init(10...19) }
        bench.claim(batch, 3)
        bench.idleWorker(share: 1)
        let numbers = released(&bench)
        #expect(numbers == [3])
        bench.check()
    }
}
