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
        for number in 1...250 { bench.claim(slow, number) }
        let begun = begin(&bench, waiting: slow)
        #expect(begun.count == StateBench.maxWaiting / 5 * 4)
        #expect(bench.excluded == [slow], "the worker must claim no more operations of the batch")
        bench.check()
    }

    @Test func waitingBatchesDoNotPreventClaimsOfOthers() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let slower = BatchID("slower")
        for number in 1...250 { bench.claim(slow, number) }
        _ = begin(&bench, waiting: slow)
        for number in 1...250 { bench.claim(slower, number) }
        _ = begin(&bench, waiting: slower)
        #expect(Set(bench.excluded) == [slow, slower])
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
        #expect(bench.waiting < StateBench.maxWaiting + 300 * 4, "the number of waiting photos is not limited")
        bench.claim(other)
        #expect(bench.begin().count { $0.operation.batch == other } == 2)
        bench.check()
    }

    @Test func holdsFewOperationsOfEachPriority() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...64 {
            #expect(bench.demand.lowest == .veryLow && bench.demand.takesOthers)
            #expect(bench.claimSize(from: .veryLow).operations == min(16, 65 - number))
            bench.claim(BatchID("slow\(number)")!, priority: .normal)
            _ = begin(&bench, waiting: nil)
        }
        #expect(bench.demand.lowest == .high && !bench.demand.takesOthers)
        for number in 1...64 {
            bench.claim(BatchID("urgent\(number)")!, priority: .veryHigh)
            _ = begin(&bench, waiting: nil)
        }
        #expect(bench.demand.lowest == nil)
        bench.check()
    }

    @Test func operationsThatWaitForSilentHostsDoNotPreventUrgentClaims() {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...512 {
            bench.claim(slow, number, photos: 1, priority: .normal)
            for photo in bench.beginDownloads(urgently: true) { bench.downloadWaits(photo, isIdle: true) }
        }
        #expect(bench.demand.lowest == .high)
        bench.check()
    }

    /// A photo is expected to have 256 KiB, and a quarter of the requested photos to arrive soon.
    @Test func requestsToSilentHostsDoNotDelayUrgentPhotos() {
        var bench = StateBench(downloads: 500, filtrations: 1, maxBytesHeld: 64 << 20)
        var (number, requested) = (0, 0)
        while bench.lowestOpen <= BatchPriority.normal.rank, number < 1000 {
            number += 1
            bench.claim(BatchID("slow\(number)")!, priority: .normal)
            for photo in bench.beginDownloads(urgently: true) {
                _ = bench.downloadBegins(photo)
                requested += 1
            }
        }
        #expect((1024..<1100).contains(requested))
        #expect(bench.lowestOpen == BatchPriority.high.rank)
        bench.claim(other, priority: .veryHigh)
        #expect(!bench.begin().isEmpty)
        #expect(bench.lowestOpen == BatchPriority.high.rank)
        bench.check()
    }

    @Test func batchContinuesWhenItsHostResponds() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...250 { bench.claim(slow, number) }
        let waiting = begin(&bench, waiting: slow)
        #expect(bench.beginDownloads(urgently: true).isEmpty)
        let permission = bench.downloadBegins(waiting[0])
        #expect(permission == .again || permission == .yes)
        let mayCarry = bench.downloadCarries(waiting[0])
        #expect(mayCarry)
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
        #expect(bench.transfers == 0)
        let mayCarry = bench.downloadCarries(first)
        #expect(mayCarry && bench.transfers == 1)
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

    // MARK: Room for bodies

    @Test func bodiesWaitForRoomInTheOrderOfTheirPriorities() throws {
        var bench = StateBench(downloads: 2, filtrations: 1, maxBytesHeld: 3000)
        bench.expectDownloads(of: 1)
        func begin(_ batch: BatchID, _ priority: BatchPriority) -> [StateBench.Photo] {
            bench.claim(batch, priority: priority)
            let photos = (0..<3).flatMap { _ in
                let begun = bench.beginDownloads(urgently: true)
                for photo in begun { _ = bench.downloadBegins(photo) }
                return begun
            }
            return photos.filter { $0.operation.batch == batch }
        }
        func carry(_ photo: StateBench.Photo, _ bytes: Int) -> Bool { bench.downloadCarries(photo, bytes: bytes) }
        let low = begin(slow, .normal)
        let high = begin(other, .high)
        try #require(low.count >= 2 && high.count >= 3)
        // An answer is repeated if the question is.
        let first = [carry(low[0], 1000), carry(low[1], 1000), carry(low[1], 1000)]
        #expect(first == [true, true, true])
        // The limit of two downloads is for each priority and the higher ones.
        let urgent = high.prefix(3).map { carry($0, 10) }
        #expect(urgent == [true, true, false])
        bench.download(high[0], bytes: 10)
        let next = carry(high[2], 10)
        #expect(next)
        bench.check()
    }

    @Test func bodyLargerThanAllMemoryWaitsUntilItIsAlone() throws {
        var bench = StateBench(downloads: 4, filtrations: 1, maxBytesHeld: 3000)
        bench.expectDownloads(of: 1)
        bench.claim(slow)
        let photos = bench.beginDownloads(urgently: true)
        for photo in photos { _ = bench.downloadBegins(photo) }
        func carry(_ photo: Int, _ bytes: Int) -> Bool { bench.downloadCarries(photos[photo], bytes: bytes) }
        let answers = [carry(0, 1000), carry(1, 9000)]
        #expect(answers == [true, false])
        let overtakes = carry(2, 1)
        #expect(!overtakes, "it overtakes the one that waits")
        let grows = carry(0, 4000)
        #expect(grows, "the oldest download must end")
        bench.download(photos[0], bytes: 4000)
        bench.filterAll()
        let later = [carry(1, 9000), carry(2, 1)]
        #expect(later == [true, false])
        bench.check()
    }
}
