import DarkroomModel
import DarkroomStore
import Testing

@testable import DarkroomWorker

/// The rules of operation queues, as the ledger keeps them: no server, no threads.
@Suite struct LedgerSteeringTests {
    let one = BatchID("one")
    let two = BatchID("two")

    // MARK: Priority

    @Test func readinessComesBeforePriority() throws {
        var bench = LedgerBench()
        try bench.claim(one, priority: .low)
        let photos = bench.begin()
        try bench.claim(two, priority: .veryHigh)
        let urgent = bench.begin()
        // The urgent photos are not downloaded: nothing keeps the filters from those that are.
        #expect(urgent.allSatisfy { $0.operation.batch == two })
        bench.download(photos[0])
        let queued = bench.ledger.filtrationsToQueue()
        #expect(queued.map { $0.photo === photos[0] } == [true])
        bench.check()
    }

    @Test func priorityOrdersWhatIsReady() throws {
        var bench = LedgerBench(downloads: 20, filtrations: 1)
        try bench.claim(one, priority: .low)
        try bench.claim(two, priority: .high)
        let photos = bench.begin()
        #expect(photos.prefix(10).allSatisfy { $0.operation.batch == two }, "the more urgent did not begin first")
        for photo in photos.reversed() { bench.download(photo) }
        let filtered = bench.filterAll()
        #expect(filtered.prefix(10).allSatisfy { $0.operation.batch == two })
        bench.check()
    }

    @Test func whatIsLessUrgentDoesNotStandInTheWay() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        for number in 1...2 { try bench.claim(one, number, priority: .low) }
        while true {
            let photos = bench.begin()
            guard !photos.isEmpty else { break }
            for photo in photos { bench.download(photo) }
        }
        _ = bench.ledger.filtrationsToQueue()
        #expect(bench.ledger.inProgress.count == bench.ledger.window, "the worker is not full")
        #expect(bench.ledger.photosWanted == 0)
        #expect(bench.ledger.lowestWanted == .normal, "a full worker keeps no room for what is more urgent")
        try bench.claim(two, priority: .high)
        let urgent = bench.begin()
        #expect(urgent.count == 4 && urgent.allSatisfy { $0.operation.batch == two })
        for photo in urgent { bench.download(photo) }
        #expect(bench.ledger.filtrationsToQueue().map(\.priority) == [.high, .high], "the next filters are not theirs")
        var begun = 4
        while case let more = bench.begin().count, more > 0 { begun += more }
        #expect(bench.ledger.inProgress.count <= bench.ledger.window + bench.ledger.reserve, "the reserve has no bound")
        bench.check()
    }

    @Test func anotherPriorityReachesWhatWaitsAndWhatRuns() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        try bench.claim(one)
        let photos = bench.ledger.begin()
        #expect(bench.ledger.mayDownload(photos[0]) == .yes)
        let orders = bench.steer(one) { $0.priority = .veryHigh }
        // One that has begun counts otherwise from now on.
        #expect(Set(orders.reordered.map(\.record.index)) == Set(photos.map(\.record.index)))
        #expect(bench.ledger.urgency(of: photos[1]) == Urgency(priority: .veryHigh, isInFocus: false))
        bench.check()
    }

    @Test func batchesOfOnePriorityTakeTurns() throws {
        var bench = LedgerBench(downloads: 20, filtrations: 1)
        for number in 1...2 { try bench.claim(one, number) }
        var photos: [PhotoInProgress] = []
        photos += bench.begin()
        for photo in photos { bench.download(photo) }
        let early = bench.ledger.filtrationsToQueue()
        try bench.claim(two)
        let late = bench.begin()
        for photo in late { bench.download(photo) }
        for filtration in early { bench.filter(filtration) }
        // What the large batch has downloaded before does not keep the small one waiting.
        let next = bench.filterAll().prefix(8).map(\.operation.batch)
        #expect(next.count { $0 == two } >= min(4, late.count), "\(next)")
        bench.check()
    }

    // MARK: Suspend

    @Test func suspendDoesNotStopWhatRuns() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let held = try bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.ledger.filtrationsToQueue()
        let mayFilter = bench.ledger.mayFilter(photos[0], queued[0].ticket)
        #expect(mayFilter)
        let orders = bench.steer(one) { $0.isSuspended = true }
        #expect(orders.stopped.isEmpty && orders.withdrawn.isEmpty)
        bench.check()
        // The filter ends, and its file is put in place; the download ends and rests.
        let mayPlace = bench.ledger.mayPlace(photos[0], queued[0].ticket)
        #expect(mayPlace)
        _ = bench.ledger.filtrationEnded(photos[0], queued[0].ticket, LedgerBench.outcome(photos[0]))
        bench.download(photos[1])
        #expect(bench.ledger.filtrationsToQueue().isEmpty, "a filtration begins while its batch is suspended")
        #expect(bench.begin().isEmpty, "a download begins while its batch is suspended")
        #expect(bench.stateCodes(held) == "FD........")
        bench.check()
    }

    @Test func nothingBeginsAfterASuspend() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one)
        let waiting = bench.ledger.begin()
        let orders = bench.steer(one) { $0.isSuspended = true }
        #expect(orders.withdrawn.count == 4, "downloads that wait are not taken back")
        for photo in waiting {
            #expect(bench.ledger.mayDownload(photo) == .no)
            _ = bench.ledger.downloadEnded(photo, nil)
        }
        bench.check()
        #expect(bench.ledger.toHandBack(now: .now) == [held], "an operation without bytes is held")
    }

    @Test func whatIsDownloadedNeedsOnlyItsFilterAfterAResume() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one, photos: 4)
        let photos = bench.begin()
        for photo in photos { bench.download(photo) }
        let queued = bench.ledger.filtrationsToQueue()
        #expect(queued.count == 2)
        bench.steerCluster { $0.isSuspended = true }
        bench.check()
        for filtration in queued {
            let mayFilter = bench.ledger.mayFilter(filtration.photo, filtration.ticket)
            #expect(!mayFilter, "a filtration in the local queue begins while the cluster is suspended")
        }
        #expect(bench.ledger.bytesHeld == 4000 && bench.stateCodes(held) == "DDDD")
        #expect(bench.ledger.toHandBack(now: .now).isEmpty)
        bench.steerCluster { $0.isSuspended = false }
        #expect(bench.begin().isEmpty, "a photo is downloaded again")
        #expect(Set(bench.filterAll().map(\.record.index)) == [0, 1, 2, 3])
        #expect(bench.stateCodes(held) == "FFFF" && bench.ledger.bytesHeld == 0)
        bench.check()
    }

    @Test func downloadedBytesAreHeldTenMinutes() throws {
        var bench = LedgerBench()
        let held = try bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        bench.steer(one) { $0.isSuspended = true }
        let now = ContinuousClock.now
        #expect(bench.ledger.toHandBack(now: now).isEmpty)
        #expect(bench.ledger.toHandBack(now: now + .seconds(599)).isEmpty)
        // A resume begins the time anew.
        bench.steer(one) { $0.isSuspended = false }
        #expect(bench.ledger.toHandBack(now: now + .seconds(599)).isEmpty)
        bench.steer(one) { $0.isSuspended = true }
        #expect(bench.ledger.toHandBack(now: now + .seconds(700)).isEmpty)
        #expect(bench.ledger.toHandBack(now: now + .seconds(1300)) == [held])
        // Once it is on its way back nothing of it begins, whatever comes.
        bench.steer(one) { $0.isSuspended = false }
        #expect(bench.begin().isEmpty && bench.ledger.filtrationsToQueue().isEmpty)
        #expect(bench.ledger.drop(held).count == 4)
        #expect(bench.ledger.bytesHeld == 0 && bench.ledger.held.isEmpty)
        bench.check()
    }

    @Test func restingBytesGiveWayToOtherWork() throws {
        var bench = LedgerBench(downloads: 10, filtrations: 1, maxBytesHeld: 13_000)
        let held = try [bench.claim(one, 1), bench.claim(one, 2)]
        bench.ledger.typicalBytes = 100
        for _ in 1...2 { for photo in bench.begin() { bench.download(photo, bytes: 990) } }
        bench.steer(one) { $0.isSuspended = true }
        #expect(bench.ledger.toHandBack(now: .now).isEmpty)
        try bench.claim(two)
        #expect(bench.begin().isEmpty)
        #expect(bench.ledger.wantsRoom)
        #expect(bench.ledger.toHandBack(now: .now) == [held[0]], "what rests takes all the room")
        _ = bench.ledger.drop(held[0])
        #expect(!bench.begin().isEmpty)
        bench.check()
    }

    @Test func suspendedDownloadsLetFiltersGoOn() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        bench.steer(one) { $0.areDownloadsSuspended = true }
        #expect(bench.begin().isEmpty)
        #expect(bench.ledger.toHandBack(now: .now).isEmpty, "handed back before what is downloaded is filtered")
        bench.filterAll()
        #expect(bench.stateCodes(held) == "FFFF......")
        #expect(bench.ledger.toHandBack(now: .now).isEmpty, "handed back before it is reported")
        let report = try #require(bench.ledger.reports(now: .now, olderThan: .seconds(1)).first)
        bench.ledger.reported(report, now: .now)
        #expect(bench.ledger.toHandBack(now: .now) == [held])
        bench.check()
    }

    @Test func suspendedFiltrationsLetDownloadsGoOnUntilTheBytesAreFull() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1, maxBytesHeld: 12_000)
        bench.ledger.typicalBytes = 1000
        for number in 1...3 { try bench.claim(one, number) }
        bench.steer(one) { $0.areFiltrationsSuspended = true }
        var downloaded = 0
        while case let photos = bench.begin(), !photos.isEmpty {
            for photo in photos { bench.download(photo) }
            downloaded += photos.count
        }
        #expect((12...15).contains(downloaded), "\(downloaded) were downloaded")
        #expect(bench.ledger.toHandBack(now: .now).isEmpty)
        #expect(bench.ledger.unwanted == [one])
        bench.check()
        bench.steer(one) { $0.areFiltrationsSuspended = false }
        #expect(bench.filterAll().count == downloaded)
        bench.check()
    }

    // MARK: Cancel

    @Test func cancelStopsWhatRunsAndNothingQueuedEverStarts() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try bench.claim(one)
        let photos = bench.begin()
        for photo in photos.prefix(3) { bench.download(photo) }
        let queued = bench.ledger.filtrationsToQueue()  // two, of which one begins; the third photo waits
        let mayFilter = bench.ledger.mayFilter(queued[0].photo, queued[0].ticket)
        #expect(mayFilter)
        let orders = bench.steer(one) { $0.isCancelled = true }
        #expect(orders.stopped.count == 4 && photos.allSatisfy { $0.cancelled.isSet })
        bench.check()
        #expect(bench.begin().isEmpty)
        // The filter counts no more; the transfer does until it is aborted.
        #expect(bench.ledger.toHandBack(now: .now).isEmpty)
        _ = bench.ledger.downloadEnded(photos[3], nil)
        #expect(bench.ledger.toHandBack(now: .now) == [held])
        #expect(bench.ledger.bytesHeld == 1000, "bytes that a filter still holds are not counted")
        bench.check()
        // An encoder that could not be interrupted comes to its end: nothing of it is wanted.
        let mayPlace = bench.ledger.mayPlace(queued[0].photo, queued[0].ticket)
        #expect(!mayPlace)
        _ = bench.ledger.filtrationEnded(queued[0].photo, queued[0].ticket, LedgerBench.outcome(queued[0].photo))
        let mayFilterLate = bench.ledger.mayFilter(queued[1].photo, queued[1].ticket)
        #expect(!mayFilterLate)
        #expect(
            bench.ledger.bytesHeld == 0 && bench.ledger.ghosts.isEmpty
                && bench.stateCodes(held).allSatisfy { $0 != "F" })
        bench.check()
    }

    @Test func anEncoderThatRunsOnKeepsItsPlaceInTheQueue() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        try bench.claim(one)
        for photo in bench.begin() { bench.download(photo) }
        let queued = bench.ledger.filtrationsToQueue()
        for filtration in queued { _ = bench.ledger.mayFilter(filtration.photo, filtration.ticket) }
        bench.steer(one) { $0.isCancelled = true }
        try bench.claim(two)
        for photo in bench.begin() { bench.download(photo) }
        #expect(bench.ledger.filtrationsToQueue().isEmpty, "the local queue gets more than it can run")
        for filtration in queued { _ = bench.ledger.filtrationEnded(filtration.photo, filtration.ticket, nil) }
        #expect(bench.ledger.filtrationsToQueue().count == 2)
        bench.check()
    }

    @Test func whatWasInPlaceWhenItWasCancelledKeepsItsLine() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let held = try bench.claim(one)
        let photos = bench.begin()
        bench.download(photos[0])
        let queued = bench.ledger.filtrationsToQueue()[0]
        _ = bench.ledger.mayFilter(photos[0], queued.ticket)
        let mayPlace = bench.ledger.mayPlace(photos[0], queued.ticket)
        #expect(mayPlace)
        bench.steer(one) { $0.isCancelled = true }
        _ = bench.ledger.downloadEnded(photos[1], nil)
        #expect(bench.ledger.toHandBack(now: .now).isEmpty, "handed back while a file is put in place")
        _ = bench.ledger.filtrationEnded(photos[0], queued.ticket, LedgerBench.outcome(photos[0]))
        #expect(bench.ledger.toHandBack(now: .now).isEmpty, "handed back before its manifest is written")
        let report = try #require(bench.ledger.reports(now: .now, olderThan: .seconds(1)).first)
        #expect(report.isCancelled && report.lines[0] != nil)
        bench.ledger.reported(report, now: .now)
        #expect(bench.ledger.toHandBack(now: .now) == [held])
        bench.check()
    }

    @Test func photosCancelledOneByOneStopOrNeverBegin() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let held = try bench.claim(one, photos: 4)
        let photos = bench.begin()
        let orders = bench.ledger.adopt(Array("CNCN".utf8), of: held)
        #expect(orders.stopped.map { $0 === photos[0] } == [true])
        _ = bench.ledger.downloadEnded(photos[0], nil)
        bench.check()
        bench.download(photos[1])
        #expect(Set(bench.runAll().map(\.record.index)) == [1, 3], "a cancelled photo began")
        let report = try #require(bench.ledger.reports(now: .now, olderThan: .seconds(1)).first)
        #expect(String(decoding: report.stateCodes, as: UTF8.self) == "CFCF")
        #expect(report.lines.allSatisfy { $0 != nil }, "a final photo has no line")
        bench.check()
    }

    @Test func aPhotoCancelledWhileItIsPutInPlaceStaysCancelled() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let held = try bench.claim(one, photos: 2)
        for photo in bench.begin() { bench.download(photo) }
        let queued = bench.ledger.filtrationsToQueue()[0]
        _ = bench.ledger.mayFilter(queued.photo, queued.ticket)
        let mayPlace = bench.ledger.mayPlace(queued.photo, queued.ticket)
        #expect(mayPlace)
        let orders = bench.ledger.adopt(Array("CN".utf8), of: held)
        #expect(orders.stopped.isEmpty && !queued.photo.cancelled.isSet)
        _ = bench.ledger.filtrationEnded(queued.photo, queued.ticket, LedgerBench.outcome(queued.photo))
        #expect(bench.stateCodes(held) == "CD" && bench.ledger.operations[held]?.unfinished == 1)
        bench.check()
    }

    @Test func anOperationWhosePhotosAreAllCancelledIsReported() throws {
        var bench = LedgerBench()
        let held = try bench.claim(one, photos: 2)
        _ = bench.ledger.adopt(Array("CC".utf8), of: held)
        #expect(bench.begin().isEmpty)
        #expect(bench.ledger.reports(now: .now, olderThan: .seconds(1)).map(\.held) == [held])
        #expect(bench.ledger.toHandBack(now: .now).isEmpty)
        bench.check()
    }

    // MARK: Focus

    @Test func whatIsInFocusBeginsFirst() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        for number in 1...3 { try bench.claim(one, number) }
        bench.steer(one) { $0.focus = .init(18...21) }
        let order = bench.runAll().map(\.record.index)
        #expect(order.prefix(4) == [18, 19, 20, 21])
        #expect(Set(order[4..<20]) == Set(Array(10..<18) + Array(22..<30)), "then what those operations have beside")
        #expect(order.count == 30)
        bench.check()
    }

    @Test func focusOnlyStopsWhatIsOutsideAndKeepsWhatIsDownloaded() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 1)
        let held = try [bench.claim(one, 1), bench.claim(one, 2)]
        let photos = bench.begin()
        for photo in photos.prefix(3) { bench.download(photo) }
        let queued = bench.ledger.filtrationsToQueue()
        _ = bench.ledger.mayFilter(queued[0].photo, queued[0].ticket)
        let orders = bench.steer(one) { $0.focus = .init(10...12, only: true) }
        #expect(Set(orders.stopped.map(\.record.index)) == [0, 3], "what filters and what downloads is stopped")
        _ = bench.ledger.filtrationEnded(queued[0].photo, queued[0].ticket, nil)
        _ = bench.ledger.downloadEnded(photos[3], nil)
        bench.check()
        #expect(bench.stateCodes(held[0]) == "NDD.......")
        #expect(bench.ledger.toHandBack(now: .now).isEmpty, "downloaded bytes are thrown away")
        let inside = bench.begin()
        #expect(inside.map(\.record.index) == [10, 11, 12, 13])
        for photo in inside { bench.download(photo) }
        #expect(bench.filterAll().allSatisfy { $0.operation == held[1] })
        // It moves back: what is downloaded needs only its filter.
        bench.steer(one) { $0.focus = .init(0...3, only: true) }
        #expect(Set(bench.filterAll().map(\.record.index)) == [1, 2])
        #expect(bench.begin().map(\.record.index) == [0, 3, 4, 5])
        bench.check()
    }

    @Test func operationsOutsideOfAFocusWithoutBytesAreHandedBack() throws {
        var bench = LedgerBench()
        let held = try [bench.claim(one, 1), bench.claim(one, 2)]
        bench.steer(one) { $0.focus = .init(12...12, only: true) }
        #expect(bench.ledger.toHandBack(now: .now) == [held[0]])
        bench.check()
    }

    @Test func aFullWorkerClaimsForAFocusOnce() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        for number in 1...3 { try bench.claim(one, number) }
        _ = bench.begin()
        #expect(bench.ledger.photosWanted == 0 && bench.ledger.focusedWanted?.priority == nil)
        bench.steer(one) { $0.focus = .init(200...210) }
        bench.ledger.noteFocus(of: one, bench.ledger.controls.batch(one))
        #expect(bench.ledger.focusedWanted?.priority == .normal)
        try bench.claim(one, 21)
        #expect(bench.ledger.focusedWanted?.priority == nil, "it claims although it has an operation in focus")
        bench.check()
    }

    /// The hint that told of it may have been lost.
    @Test func aFullWorkerClaimsForAFocusOfWhichAnAnswerTells() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        for number in 1...3 { try bench.claim(one, number) }
        _ = bench.begin()
        var controls = bench.ledger.controls.batch(one)
        controls.focus = .init(200...210)
        let orders = bench.ledger.steer { $0.answered(1, sent: 0, batches: [one: controls]) }
        #expect(orders.isNews && bench.ledger.focusedWanted?.priority == .normal)
    }

    // MARK: Limits and the end

    @Test func limitsOfTheClusterOverrideTheWorkersOwn() throws {
        var bench = LedgerBench(downloads: 4, filtrations: 2)
        #expect(bench.steerCluster { $0.downloads = 1 }.limitsChanged)
        #expect(bench.ledger.downloads == 1 && bench.ledger.filtrations == 2)
        try bench.claim(one)
        #expect(bench.begin().count == 1)
        bench.steerCluster { $0.downloads = 8 }
        #expect(bench.begin().count == 7)
        #expect(bench.steerCluster { $0.downloads = nil }.limitsChanged)
        #expect(bench.ledger.downloads == 4 && bench.begin().isEmpty)
        bench.check()
    }

    @Test func aStoppingWorkerTakesBackWhatHasNotBegun() throws {
        var bench = LedgerBench(downloads: 2, filtrations: 1)
        let held = try bench.claim(one)
        let waiting = bench.ledger.begin()
        #expect(bench.ledger.stop().count == 2)
        for photo in waiting {
            #expect(bench.ledger.mayDownload(photo) == .no)
            _ = bench.ledger.downloadEnded(photo, nil)
        }
        #expect(bench.ledger.toHandBack(now: .now) == [held])
    }

    @Test func photosThatAreStoredAreStillToBeFiltered() throws {
        var bench = LedgerBench()
        let held = try bench.claim(one, stateCodes: "DFND")
        let photos = bench.begin()
        #expect(photos.map(\.record.index) == [0, 2, 3] && photos.map(\.isStored) == [true, false, true])
        for photo in photos { bench.download(photo) }
        bench.filterAll()
        #expect(bench.stateCodes(held) == "FFFF")
        bench.check()
    }
}
