import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// How the worker state applies priorities and controls, without a server or threads.
@Suite struct StateControlTests {
    let one = BatchID("one")
    let two = BatchID("two")

    // MARK: Priority

    @Test func filtersDownloadedPhotosBeforeHigherPrioritiesThatAreNot() throws {
        var bench = StateBench()
        bench.claim(one, priority: .low)
        let photos = bench.begin()
        bench.claim(two, priority: .veryHigh)
        let urgent = bench.begin()
        // The photos of high priority are not downloaded yet, so the filters take a downloaded photo of low priority.
        #expect(urgent.allSatisfy { $0.operation.batch == two })
        bench.download(photos[0])
        let queued = bench.queueFilters()
        #expect(queued.map { $0.task === photos[0] } == [true])
        bench.check()
    }

    @Test func startsReadyPhotosInOrderOfPriority() throws {
        var bench = StateBench(downloads: 20, filtrations: 1)
        bench.claim(one, priority: .low)
        bench.claim(two, priority: .high)
        let photos = bench.begin()
        #expect(photos.prefix(10).allSatisfy { $0.operation.batch == two }, "the higher priority did not start first")
        for photo in photos.reversed() { bench.download(photo) }
        let filtered = bench.filterAll()
        #expect(filtered.prefix(10).allSatisfy { $0.operation.batch == two })
        bench.check()
    }

    @Test func lowerPrioritiesDoNotBlockHigherOnes() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        for number in 1...2 { bench.claim(one, number, priority: .low) }
        while true {
            let photos = bench.begin()
            guard !photos.isEmpty else { break }
            for photo in photos { bench.download(photo) }
        }
        _ = bench.queueFilters()
        #expect(bench.taskCount == bench.window, "the worker is not full")
        #expect(bench.photosWanted == 0)
        #expect(bench.demand.lowest == .normal, "a full worker keeps no room for higher priorities")
        bench.claim(two, priority: .high)
        let urgent = bench.begin()
        #expect(urgent.count == 4 && urgent.allSatisfy { $0.operation.batch == two })
        for photo in urgent { bench.download(photo) }
        #expect(bench.queueFilters().map(\.priority) == [.high, .high], "other photos are filtered next")
        var begun = 4
        while case let more = bench.begin().count, more > 0 { begun += more }
        #expect(bench.taskCount <= bench.window + bench.reserve, "the reserve has no limit")
        bench.check()
    }

    @Test func priorityChangeAppliesToWaitingAndRunningPhotos() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one)
        let photos = bench.beginDownloads()
        #expect(bench.downloadBegins(photos[0]) == .yes)
        let effects = bench.control(one) { $0.priority = .veryHigh }
        // The running download also gets the new priority.
        #expect(Set(effects.reordered.map(\.record.index)) == Set(photos.map(\.record.index)))
        #expect(bench.urgency(of: photos[1]) == Urgency(priority: .veryHigh, isInFocus: false))
        bench.check()
    }

    @Test func batchesOfOnePriorityTakeTurns() throws {
        var bench = StateBench(downloads: 20, filtrations: 1)
        for number in 1...2 { bench.claim(one, number) }
        var photos: [StateBench.Photo] = []
        photos += bench.begin()
        for photo in photos { bench.download(photo) }
        let early = bench.queueFilters()
        bench.claim(two)
        let late = bench.begin()
        for photo in late { bench.download(photo) }
        for filtration in early { bench.filter(filtration) }
        // Earlier downloads of the large batch do not delay the small one.
        let next = bench.filterAll().prefix(8).map(\.operation.batch)
        #expect(next.count { $0 == two } >= min(4, late.count), "\(next)")
        bench.check()
    }

    // MARK: Suspend

    @Test func suspendDoesNotStopRunningPhotos() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let held = bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.queueFilters()
        let mayFilter = bench.filterBegins(queued[0])
        #expect(mayFilter)
        let effects = bench.control(one) { $0.isSuspended = true }
        #expect(effects.cancelled.isEmpty && effects.withdrawn.isEmpty)
        bench.check()
        // The filter ends, and its file gets its final name. The download ends, and its filter does not start.
        let mayPlace = bench.placing(queued[0])
        #expect(mayPlace)
        bench.filterEnded(queued[0], StateBench.outcome(photos[0]))
        bench.download(photos[1])
        #expect(bench.queueFilters().isEmpty, "a filtration begins while its batch is suspended")
        #expect(bench.begin().isEmpty, "a download begins while its batch is suspended")
        #expect(bench.stateCodes(held) == "FD........")
        bench.check()
    }

    @Test func nothingStartsAfterASuspend() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one)
        let waiting = bench.beginDownloads()
        let effects = bench.control(one) { $0.isSuspended = true }
        #expect(effects.withdrawn.count == 4, "waiting downloads are not withdrawn")
        for photo in waiting {
            #expect(bench.downloadBegins(photo) == .no)
            bench.downloadEnded(photo, nil)
        }
        bench.check()
        #expect(bench.releasesDue(now: .now) == [held], "an operation without downloaded bytes is not released")
    }

    @Test func filtersDownloadedPhotosAfterAResumeWithoutAnotherDownload() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one, photos: 4)
        let photos = bench.begin()
        for photo in photos { bench.download(photo) }
        let queued = bench.queueFilters()
        #expect(queued.count == 2)
        bench.controlCluster { $0.isSuspended = true }
        bench.check()
        for filtration in queued {
            let mayFilter = bench.filterBegins(filtration)
            #expect(!mayFilter, "a filtration in the local queue begins while the cluster is suspended")
        }
        #expect(bench.bytesHeld == 4000 && bench.stateCodes(held) == "DDDD")
        #expect(bench.releasesDue(now: .now).isEmpty)
        bench.controlCluster { $0.isSuspended = false }
        #expect(bench.begin().isEmpty, "a photo is downloaded again")
        #expect(Set(bench.filterAll().map(\.record.index)) == [0, 1, 2, 3])
        #expect(bench.stateCodes(held) == "FFFF" && bench.bytesHeld == 0)
        bench.check()
    }

    @Test func holdsDownloadedBytesOfASuspendedBatchForTenMinutes() throws {
        var bench = StateBench()
        let held = bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        bench.control(one) { $0.isSuspended = true }
        let now = ContinuousClock.now
        #expect(bench.releasesDue(now: now).isEmpty)
        #expect(bench.releasesDue(now: now + .seconds(599)).isEmpty)
        // Resuming the batch restarts the ten minutes until the release.
        bench.control(one) { $0.isSuspended = false }
        #expect(bench.releasesDue(now: now + .seconds(599)).isEmpty)
        bench.control(one) { $0.isSuspended = true }
        #expect(bench.releasesDue(now: now + .seconds(700)).isEmpty)
        #expect(bench.releasesDue(now: now + .seconds(1300)) == [held])
        // Once the release of an operation is due, none of its photos starts, even after a resume.
        bench.control(one) { $0.isSuspended = false }
        #expect(bench.begin().isEmpty && bench.queueFilters().isEmpty)
        #expect(bench.lost(held).count == 4)
        #expect(bench.bytesHeld == 0 && bench.held.isEmpty)
        bench.check()
    }

    @Test func releasesBytesOfASuspendedBatchIfOtherWorkNeedsRoom() throws {
        var bench = StateBench(downloads: 10, filtrations: 1, maxBytesHeld: 13_000)
        let held = [bench.claim(one, 1), bench.claim(one, 2)]
        bench.expectDownloads(of: 100)
        for _ in 1...2 { for photo in bench.begin() { bench.download(photo, bytes: 990) } }
        bench.control(one) { $0.isSuspended = true }
        #expect(bench.releasesDue(now: .now).isEmpty)
        bench.claim(two)
        #expect(bench.begin().isEmpty)
        #expect(bench.needsRoom)
        #expect(bench.releasesDue(now: .now) == [held[0]], "the suspended batch takes all the room")
        _ = bench.lost(held[0])
        #expect(!bench.begin().isEmpty)
        bench.check()
    }

    @Test func filtersContinueWhileDownloadsAreSuspended() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        bench.control(one) { $0.areDownloadsSuspended = true }
        #expect(bench.begin().isEmpty)
        #expect(bench.releasesDue(now: .now).isEmpty, "released before the downloaded photos are filtered")
        bench.filterAll()
        #expect(bench.stateCodes(held) == "FFFF......")
        #expect(bench.releasesDue(now: .now).isEmpty, "released before the report")
        let report = try #require(bench.reportsDue(now: .now, olderThan: .seconds(1)).first)
        bench.reported(report, now: .now)
        #expect(bench.releasesDue(now: .now) == [held])
        bench.check()
    }

    @Test func downloadsContinueUpToTheByteLimitWhileFiltrationsAreSuspended() throws {
        var bench = StateBench(downloads: 4, filtrations: 1, maxBytesHeld: 12_000)
        bench.expectDownloads(of: 1000)
        for number in 1...3 { bench.claim(one, number) }
        bench.control(one) { $0.areFiltrationsSuspended = true }
        var downloaded = 0
        while case let photos = bench.begin(), !photos.isEmpty {
            for photo in photos { bench.download(photo) }
            downloaded += photos.count
        }
        #expect((12...15).contains(downloaded), "\(downloaded) photos were downloaded")
        #expect(bench.releasesDue(now: .now).isEmpty)
        #expect(bench.excluded == [one])
        bench.check()
        bench.control(one) { $0.areFiltrationsSuspended = false }
        #expect(bench.filterAll().count == downloaded)
        bench.check()
    }

    @Test func claimsDuringAFilterSuspensionOfTheClusterExcludeNoBatch() throws {
        var bench = StateBench(downloads: 4, filtrations: 1, maxBytesHeld: 12_000)
        bench.expectDownloads(of: 1000)
        for number in 1...3 { bench.claim(one, number) }
        bench.controlCluster { $0.areFiltrationsSuspended = true }
        while case let photos = bench.begin(), !photos.isEmpty {
            for photo in photos { bench.download(photo) }
        }
        #expect(bench.bytesHeld >= 12_000 && bench.excluded.isEmpty)
        bench.check()
    }

    // MARK: Cancel

    @Test func cancelStopsRunningPhotosAndStartsNoQueuedOnes() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = bench.claim(one)
        let photos = bench.begin()
        for photo in photos.prefix(3) { bench.download(photo) }
        let queued = bench.queueFilters()  // two filters, of which one starts; the third photo waits
        let mayFilter = bench.filterBegins(queued[0])
        #expect(mayFilter)
        let effects = bench.control(one) { $0.isCancelled = true }
        #expect(effects.cancelled.count == 4 && photos.allSatisfy { $0.cancellation.isCancelled })
        bench.check()
        #expect(bench.begin().isEmpty)
        // The running filter does not delay the release; the running transfer delays it until the transfer has ended.
        #expect(bench.releasesDue(now: .now).isEmpty)
        bench.downloadEnded(photos[3], nil)
        #expect(bench.releasesDue(now: .now) == [held])
        #expect(bench.bytesHeld == 1000, "bytes that a filter still holds are not counted")
        bench.check()
        // An encoder that could not be interrupted ends, and the worker discards its result.
        let mayPlace = bench.placing(queued[0])
        #expect(!mayPlace)
        bench.filterEnded(queued[0], StateBench.outcome(queued[0].task))
        let mayFilterLate = bench.filterBegins(queued[1])
        #expect(!mayFilterLate)
        #expect(
            bench.bytesHeld == 0 && bench.abandonedFilters == 0 && bench.stateCodes(held).allSatisfy { $0 != "F" })
        bench.check()
    }

    @Test func abandonedFilterKeepsItsSlotInTheLocalQueue() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        let queued = bench.queueFilters()
        for filtration in queued { _ = bench.filterBegins(filtration) }
        bench.control(one) { $0.isCancelled = true }
        bench.claim(two)
        for photo in bench.begin() { bench.download(photo) }
        #expect(bench.queueFilters().isEmpty, "the local queue gets more filters than it can run")
        for filtration in queued { bench.filterEnded(filtration, nil) }
        #expect(bench.queueFilters().count == 2)
        bench.check()
    }

    @Test func photoWrittenBeforeACancelKeepsItsLine() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let held = bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.queueFilters()[0]
        _ = bench.filterBegins(queued)
        let mayPlace = bench.placing(queued)
        #expect(mayPlace)
        bench.control(one) { $0.isCancelled = true }
        bench.downloadEnded(photos[1], nil)
        #expect(bench.releasesDue(now: .now).isEmpty, "released while a file gets its final name")
        bench.filterEnded(queued, StateBench.outcome(photos[0]))
        #expect(bench.releasesDue(now: .now).isEmpty, "released before the manifest is written")
        let report = try #require(bench.reportsDue(now: .now, olderThan: .seconds(1)).first)
        #expect(report.isCancelled && report.lines[0] != nil)
        bench.reported(report, now: .now)
        #expect(bench.releasesDue(now: .now) == [held])
        bench.check()
    }

    @Test func cancelledPhotosStopOrNeverStart() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let held = bench.claim(one, photos: 4)
        let photos = bench.begin()
        let effects = bench.merge(Array("CNCN".utf8), of: held)
        #expect(effects.cancelled.map { $0 === photos[0] } == [true])
        bench.downloadEnded(photos[0], nil)
        bench.check()
        bench.download(photos[1])
        #expect(Set(bench.runAll().map(\.record.index)) == [1, 3], "a cancelled photo started")
        let report = try #require(bench.reportsDue(now: .now, olderThan: .seconds(1)).first)
        #expect(String(decoding: report.stateCodes, as: UTF8.self) == "CFCF")
        #expect(report.lines.allSatisfy { $0 != nil }, "a final photo has no line")
        bench.check()
    }

    @Test func photoCancelledWhileItsFileIsRenamedStaysCancelled() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let held = bench.claim(one, photos: 2)
        for photo in bench.begin() { bench.download(photo) }
        let queued = bench.queueFilters()[0]
        _ = bench.filterBegins(queued)
        let mayPlace = bench.placing(queued)
        #expect(mayPlace)
        let effects = bench.merge(Array("CN".utf8), of: held)
        #expect(effects.cancelled.isEmpty && !queued.task.cancellation.isCancelled)
        bench.filterEnded(queued, StateBench.outcome(queued.task))
        #expect(bench.stateCodes(held) == "CD" && bench.unfinished(held) == 1)
        bench.check()
    }

    @Test func reportsAnOperationWithOnlyCancelledPhotos() throws {
        var bench = StateBench()
        let held = bench.claim(one, photos: 2)
        _ = bench.merge(Array("CC".utf8), of: held)
        #expect(bench.begin().isEmpty)
        #expect(bench.reportsDue(now: .now, olderThan: .seconds(1)).map(\.held) == [held])
        #expect(bench.releasesDue(now: .now).isEmpty)
        bench.check()
    }

    // MARK: Activity

    @Test func namesThePhotosThatRunAndWait() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one, 1)
        let photos = bench.begin()
        bench.downloadWaits(photos[0])
        bench.download(photos[1])
        let activity = try #require(bench.activities.first)
        #expect(activity.batch == one && activity.running.sorted() == [2, 3] && activity.waiting == 1)
        #expect(activity.waitingURLs == ["http://example.com/0"] && activity.downloadingURLs.count == 2)
        _ = bench.queueFilters()
        #expect(bench.activities.first?.running.sorted() == [1, 2, 3])
    }

    // MARK: Limits and the end

    @Test func limitsOfTheClusterOverrideThoseOfTheWorker() throws {
        var bench = StateBench(downloads: 4, filtrations: 2)
        #expect(bench.controlCluster { $0.downloads = 1 }.changesLimits)
        #expect(bench.limits.downloads == 1 && bench.limits.filtrations == 2)
        bench.claim(one)
        #expect(bench.begin().count == 1)
        bench.controlCluster { $0.downloads = 8 }
        #expect(bench.begin().count == 7)
        #expect(bench.controlCluster { $0.downloads = nil }.changesLimits)
        #expect(bench.limits.downloads == 4 && bench.begin().isEmpty)
        bench.check()
    }

    @Test func stoppingWorkerWithdrawsDownloadsThatHaveNotStarted() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        let held = bench.claim(one)
        let waiting = bench.beginDownloads()
        #expect(bench.stop().count == 2)
        for photo in waiting {
            #expect(bench.downloadBegins(photo) == .no)
            bench.downloadEnded(photo, nil)
        }
        #expect(bench.releasesDue(now: .now) == [held])
    }

    @Test func filtersStoredPhotos() throws {
        var bench = StateBench()
        let held = bench.claim(one, stateCodes: "DFND")
        let photos = bench.begin()
        #expect(photos.map(\.record.index) == [0, 2, 3] && photos.map(\.isStored) == [true, false, true])
        for photo in photos { bench.download(photo) }
        bench.filterAll()
        #expect(bench.stateCodes(held) == "FFFF")
        bench.check()
    }
}
