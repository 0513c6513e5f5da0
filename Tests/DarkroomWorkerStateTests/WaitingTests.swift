import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// Photos that wait for their hosts, without a server or threads.
@Suite struct WaitingTests {
    let slow = BatchID("slow")
    let other = BatchID("other")

    /// Starts all photos that may start. The photos of `batch`, or all photos if `batch` is nil, wait for their host.
    private func begin(_ bench: inout StateBench, waiting batch: BatchID?) -> [StateBench.Photo] {
        var begun: [StateBench.Photo] = []
        while true {
            let photos = bench.beginDownloads(urgently: true)
            guard !photos.isEmpty else { return begun }
            for photo in photos where batch.map({ photo.operation.batch == $0 }) ?? true {
                bench.downloadWaits(photo)
            }
            begun += photos
        }
    }

    @Test func waitingPhotosLeaveTheirSlotsToOthers() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        bench.claim(other)
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count { $0.operation.batch == other } == 2)
        #expect(bench.transfers == 2)
        bench.check()
    }

    @Test func limitsTheNumberOfWaitingPhotos() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...4 { bench.claim(slow, number) }
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count == bench.window)
        #expect(bench.excluded == [slow], "the worker must claim no more operations of the batch")
        bench.check()
    }

    @Test func waitingBatchesDoNotPreventClaimsOfOthers() throws {
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

    @Test func manyWaitingPhotosDoNotDelayOthers() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let crowd = (0..<300).compactMap { BatchID("slow\($0)") }
        for batch in crowd {
            bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.waiting < StateBench.maxWaiting + 300 * 2, "the number of waiting photos is not limited")
        bench.claim(other)
        #expect(bench.begin().count { $0.operation.batch == other } == 2)
        bench.check()
        #expect(bench.photosWanted > 0)
        for batch in (0..<300).compactMap({ BatchID("slower\($0)") }) where bench.photosWanted > 0 {
            bench.claim(batch)
            _ = begin(&bench, waiting: batch)
        }
        #expect(bench.batchCount < StateBench.maxStalled + 10, "the number of stalled batches is not limited")
        bench.check()
    }

    @Test func batchContinuesWhenItsHostResponds() throws {
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

    @Test func waitingPhotosCountInTheTurnsOfBatches() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        for _ in 1...2 {
            for photo in bench.beginDownloads(urgently: true) { bench.downloadWaits(photo) }
        }
        #expect(bench.waiting(of: slow) == 4)
        bench.claim(other)
        #expect(bench.beginDownloads(urgently: true).map(\.operation.batch) == [other, other])
        bench.check()
    }

    @Test func higherPriorityDoesNotWaitForSlotsOfLowerOnes() throws {
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

    @Test func waitingPhotoTakesASlotAgainWhenItStarts() throws {
        var bench = StateBench(downloads: 1, filtrations: 1)
        bench.claim(slow)
        let first = try #require(bench.beginDownloads(urgently: true).first)
        bench.downloadWaits(first)
        #expect(bench.transfers == 0)
        let begins = (bench.downloadBegins(first), bench.downloadBegins(first))
        #expect(begins == (.yes, .again))
        #expect(bench.transfers == 1)
        #expect(bench.beginDownloads(urgently: true).isEmpty)
        bench.downloadWaits(first)  // before a retry
        let another = bench.downloadBegins(first)
        #expect(another == .again, "the download is not a retry")
        bench.download(first)
        bench.check()
    }

    @Test func suspendWithdrawsWaitingPhotos() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let waiting = try #require(bench.beginDownloads(urgently: true).first)
        bench.downloadWaits(waiting)
        let effects = bench.control(slow) { $0.isSuspended = true }
        #expect(effects.withdrawn.contains { $0 === waiting })
        bench.downloadEnded(waiting, nil)
        bench.check()
    }

    @Test func stopWithdrawsWaitingPhotos() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let begun = bench.begin()
        bench.downloadWaits(begun[0])
        #expect(bench.stop().map(\.record.index) == [begun[0].record.index])
        bench.check()
    }

    @Test func priorityChangeReordersWaitingAndRunningPhotos() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        bench.claim(slow)
        let begun = bench.begin()
        bench.downloadWaits(begun[0])
        let effects = bench.control(slow) { $0.priority = .high }
        #expect(effects.reordered.map(\.record.index).sorted() == begun.map(\.record.index))
        bench.check()
    }
}
