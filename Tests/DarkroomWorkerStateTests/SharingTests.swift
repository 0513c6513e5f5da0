import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// A worker releases operations for a worker that is idle.
@Suite struct SharingTests {
    private let batch: BatchID = "shared"

    /// The numbers of the operations that the worker releases.
    private func released(_ bench: inout StateBench) -> [Int] { bench.releases(now: .now).map(\.held.number).sorted() }

    /// Claims operations of 10 photos. The photos of the first 5 operations have begun and wait for their turn.
    private func bench(operations: Int) -> StateBench {
        var bench = StateBench(downloads: 50, filtrations: 1)
        for number in 1...operations { bench.claim(batch, number) }
        for photo in bench.beginDownloads(urgently: true).prefix(50) { bench.downloadWaits(photo) }
        return bench
    }

    @Test func theLatestHalfIsReleasedOnce() {
        var bench = bench(operations: 8)
        let before = released(&bench)
        #expect(before.isEmpty)
        bench.idleWorker()
        let releases = bench.releases(now: .now)
        #expect(releases.map(\.held.number).sorted() == [5, 6, 7, 8])
        #expect(releases.allSatisfy { $0.shared == .normal && $0.due == nil && $0.waitingURLs.isEmpty })
        #expect(releases.contains { $0.retries.count == 10 }, "the next worker must know the attempts")
        bench.check()
        let again = bench.releases(now: .now)
        #expect(again.map(\.held.number).sorted() == [5, 6, 7, 8], "the reply may be lost")
        #expect(again.allSatisfy { $0.shared == nil })
        for release in releases { bench.lost(release.held) }
        #expect(bench.localOperations.map(\.number) == [1, 2, 3, 4])
        let rest = released(&bench)
        #expect(rest.isEmpty)
        bench.check()
    }

    @Test func oneOperationStays() {
        var bench = bench(operations: 1)
        bench.idleWorker()
        let numbers = released(&bench)
        #expect(numbers.isEmpty)
    }

    @Test func manyWorkersReleaseFewEach() {
        var bench = bench(operations: 40)
        bench.idleWorker(of: 17)
        let numbers = released(&bench)
        #expect(numbers == [39, 40])
    }

    @Test func lowestPriorityIsReleasedFirst() {
        var bench = StateBench(downloads: 50, filtrations: 1)
        for number in 1...2 { bench.claim("slow", number, priority: .low) }
        for number in 3...6 { bench.claim("fast", number, priority: .veryHigh) }
        bench.idleWorker()
        let releases = bench.releases(now: .now)
        #expect(releases.map(\.held.number).sorted() == [1, 2, 6])
        #expect(Set(releases.map(\.shared)) == [.low, .veryHigh])
    }

    /// Each photo is the only one of its operation, and further photos of the operation may start.
    @Test func operationsWithPhotosUnderWayStay() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...20 { bench.claim(batch, number, photos: 1) }
        var photos = bench.beginDownloads(urgently: true)
        try #require(photos.count == 2)
        bench.download(photos[0])
        bench.download(photos[1])
        let jobs = bench.queueFilters()
        let filtering = try #require(jobs.first)
        _ = bench.filterBegins(filtering)
        photos += bench.beginDownloads(urgently: true)
        try #require(photos.count == 4)
        _ = bench.downloadBegins(photos[2])
        _ = bench.downloadBegins(photos[3])
        _ = bench.downloadCarries(photos[3])
        // The downloaded state of the first two photos is reported.
        for report in bench.reportsDue(now: .now, olderThan: .zero) { bench.reported(report, now: .now) }
        let busy = Set(photos.map(\.operation.number))
        for _ in 1...5 {
            bench.idleWorker()
            for release in bench.releases(now: .now) {
                #expect(!busy.contains(release.held.number))
                bench.lost(release.held)
            }
        }
        #expect(busy.isSubset(of: bench.localOperations.map(\.number)))
        bench.check()
    }

    @Test func outcomesAreReportedFirst() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        for number in 1...2 { bench.claim(batch, number, photos: 2) }
        let photos = bench.beginDownloads(urgently: true)
        for photo in photos.dropLast() { bench.downloadWaits(photo) }
        bench.downloadEnded(photos[3], StateBench.failure(photos[3]))
        bench.idleWorker()
        let numbers = released(&bench)
        #expect(numbers == [1], "the latest operation has an outcome to report")
        bench.check()
    }

    /// Another worker could do no more for them than wait.
    @Test func operationsThatWaitOnlyForServersStay() {
        var bench = StateBench(downloads: 8, filtrations: 2)
        for number in 1...4 { bench.claim(batch, number, photos: 1) }
        for photo in bench.beginDownloads(urgently: true) {
            bench.downloadWaits(photo, isIdle: photo.operation.number < 4)
        }
        bench.idleWorker()
        let numbers = released(&bench)
        #expect(numbers.isEmpty, "only one of the operations competes for downloads")
        bench.check()
    }

    @Test func quarantinedAndFocusedOperationsStay() {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, 1, leaseExpiries: 2)
        bench.claim(batch, 2)
        bench.control(batch) { $0.focus = .init(10...19) }
        bench.claim(batch, 3)
        bench.claim(batch, 4)
        bench.idleWorker()
        let numbers = released(&bench)
        #expect(numbers == [3, 4])
        bench.check()
    }

    @Test func aNoticeIsForgottenWhenRedisIsAway() {
        var bench = bench(operations: 8)
        bench.idleWorker()
        bench.handle(.claimsPaused)
        let numbers = released(&bench)
        #expect(numbers.isEmpty)
    }

    @Test func stoppingWorkerSharesNothing() {
        var bench = bench(operations: 8)
        bench.idleWorker()
        _ = bench.stop()
        let releases = bench.releases(now: .now)
        #expect(releases.allSatisfy { $0.shared == nil })
    }
}
