import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// Photos that wait for their hosts: no server, no threads.
@Suite struct WaitingTests {
    let slow = BatchID("slow")
    let other = BatchID("other")

    /// Begins all that may begin; what is of `batch`, or of any when that is nil, waits for its host.
    private func begin(_ bench: inout StateBench, waiting batch: BatchID?) -> [StateBench.Photo] {
        var begun: [StateBench.Photo] = []
        while true {
            let photos = bench.beginDownloads(urgently: true)
            guard !photos.isEmpty else { return begun }
            for photo in photos where batch.map({ photo.operation.batch == $0 }) ?? true {
                _ = bench.downloadWaits(photo)
            }
            begun += photos
        }
    }

    @Test func whatWaitsForItsHostLeavesItsPlaceToOthers() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        bench.claim(other)
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count { $0.operation.batch == other } == 2)
        #expect(bench.transfers == 2)
        bench.check()
    }

    @Test func whatWaitsIsBounded() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...4 { bench.claim(slow, number) }
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count == bench.window)
        #expect(bench.excluded == [slow], "nothing more of it is claimed")
        bench.check()
    }

    @Test func batchesThatWaitForTheirHostsKeepNoOtherFromBeingClaimed() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let slower = BatchID("slower")
        for number in 1...4 { bench.claim(slow, number) }
        _ = begin(&bench, waiting: slow)
        for number in 1...4 { bench.claim(slower, number) }
        _ = begin(&bench, waiting: slower)
        #expect(Set(bench.excluded) == [slow, slower])
        #expect(bench.photosWanted == bench.window)
        let wants = bench.demand
        #expect(wants.lowest == .veryLow && wants.takesOthers)
        bench.claim(other)
        let begun = bench.beginDownloads(urgently: true)
        #expect(!begun.isEmpty && begun.allSatisfy { $0.operation.batch == other })
        bench.check()
    }

    @Test func aCrowdOfWaitingPhotosKeepsNoOtherFromBeginning() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let crowd = (0..<300).compactMap { BatchID("slow\($0)") }
        for batch in crowd {
            bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.waiting < StateBench.maxWaiting + 300 * 2, "what waits is bounded")
        bench.claim(other)
        #expect(bench.begin().count { $0.operation.batch == other } == 2)
        bench.check()
        #expect(bench.photosWanted > 0)
        for batch in (0..<300).compactMap({ BatchID("slower\($0)") }) where bench.photosWanted > 0 {
            bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.batchCount < StateBench.maxStalled + 10, "what is held of stalled batches is bounded")
        bench.check()
    }

    @Test func aBatchWhoseHostAnswersGoesOn() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...4 { bench.claim(slow, number) }
        let waiting = begin(&bench, waiting: slow)
        #expect(bench.beginDownloads(urgently: true).isEmpty)
        let permission = bench.downloadBegins(waiting[0])
        #expect(permission == .again || permission == .yes)
        bench.download(waiting[0])
        #expect(bench.excluded.isEmpty)
        #expect(!bench.beginDownloads(urgently: true).isEmpty)
        bench.check()
    }

    @Test func whatWaitsCountsWhereBatchesTakeTurns() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        for _ in 1...2 {
            for photo in bench.beginDownloads(urgently: true) { _ = bench.downloadWaits(photo) }
        }
        #expect(bench.waiting(of: slow) == 4)
        bench.claim(other)
        #expect(bench.beginDownloads(urgently: true).map(\.operation.batch) == [other, other])
        bench.check()
    }

    @Test func whatIsMoreUrgentWaitsForNoPlaceOfOthers() throws {
        for downloads in [1, 8] {
            var bench = StateBench(downloads: downloads, filtrations: 1)
            bench.claim(BatchID("lowest"), priority: .veryLow)
            for number in 2...4 { bench.claim(BatchID("lowest"), number) }
            _ = bench.begin()
            for priority in BatchPriority.allCases.dropFirst() {
                let batch = try #require(BatchID("batch-\(priority)"))
                for number in 1...4 { bench.claim(batch, number, priority: priority) }
                let begun = bench.begin()
                #expect(!begun.isEmpty && begun.allSatisfy { $0.operation.batch == batch }, "\(priority)")
                #expect(bench.downloading(from: priority) <= downloads)
            }
            bench.check()
        }
    }

    @Test func whatWaitsTakesAPlaceAgainWhenItBegins() throws {
        var bench = StateBench(downloads: 1, filtrations: 1)
        bench.claim(slow)
        let first = try #require(bench.beginDownloads(urgently: true).first)
        _ = bench.downloadWaits(first)
        #expect(bench.transfers == 0)
        let begins = (bench.downloadBegins(first), bench.downloadBegins(first))
        #expect(begins == (.yes, .again))
        #expect(bench.transfers == 1)
        #expect(bench.beginDownloads(urgently: true).isEmpty)
        _ = bench.downloadWaits(first)  // before another attempt
        let another = bench.downloadBegins(first)
        #expect(another == .again, "its download has begun before")
        bench.download(first)
        bench.check()
    }

    @Test func whatWaitsIsTakenBackWhenItsBatchIsSuspended() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let waiting = try #require(bench.beginDownloads(urgently: true).first)
        _ = bench.downloadWaits(waiting)
        let effects = bench.steer(slow) { $0.isSuspended = true }
        #expect(effects.withdrawn.contains { $0 === waiting })
        _ = bench.downloadEnded(waiting, nil)
        bench.check()
    }

    @Test func whatWaitsIsTakenBackWhenTheWorkerStops() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let begun = bench.begin()
        _ = bench.downloadWaits(begun[0])
        #expect(bench.stop().map(\.record.index) == [begun[0].record.index])
        bench.check()
    }

    @Test func whatWaitsAndWhatRunsMovesWithItsBatch() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let begun = bench.begin()
        _ = bench.downloadWaits(begun[0])
        let effects = bench.steer(slow) { $0.priority = .high }
        #expect(effects.reordered.map(\.record.index).sorted() == begun.map(\.record.index))
        bench.check()
    }
}
