import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// How the worker state applies a focus, without a server or threads.
@Suite struct StateFocusTests {
    let one = BatchID("one")
    let two = BatchID("two")

    @Test func photosInFocusAreReportedSooner() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = [bench.claim(one, 1), bench.claim(one, 2)]
        for photo in bench.begin() { bench.download(photo) }
        let began = ContinuousClock.now
        bench.filterAll()
        bench.control(one) { $0.focus = .init(0...1) }
        let soon = ContinuousClock.now + .milliseconds(200)
        #expect(bench.reportsDue(now: began, olderThan: .seconds(1)).isEmpty)
        #expect(bench.reportsDue(now: soon, olderThan: .seconds(1)).map(\.held) == [held[0]])
        bench.control(one) { $0.focus = nil }
        #expect(bench.reportsDue(now: soon, olderThan: .seconds(1)).isEmpty)
        bench.check()
    }

    @Test func focusStartsFirst() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        for number in 1...3 { bench.claim(one, number) }
        bench.control(one) { $0.focus = .init(18...21) }
        let order = bench.runAll().map(\.record.index)
        #expect(order.prefix(4) == [18, 19, 20, 21])
        // The other photos of the operations in focus follow.
        #expect(Set(order[4..<20]) == Set(Array(10..<18) + Array(22..<30)))
        #expect(order.count == 30)
        bench.check()
    }

    /// The first visible photo is the last photo of its operation. The operations with the other visible photos are not
    /// in this worker yet.
    @Test func otherPhotosOfTheFirstOperationInFocusWaitForTheFocus() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one, 1)
        for photo in bench.begin() { bench.download(photo) }
        bench.control(one) { $0.focus = .init(19...33) }
        bench.claim(one, 2)
        #expect(bench.begin().map(\.record.index) == [19])
        #expect(bench.demand.focused?.batch == one)
        bench.claim(one, 3)
        var order = bench.runAll().map(\.record.index)
        #expect(order.contains(29) && Set(order).isDisjoint(with: 10..<19))
        bench.claim(one, 4)
        order = bench.runAll().map(\.record.index)
        // All operations in the focus are here, so the other photos follow.
        #expect(order.prefix(4) == [30, 31, 32, 33])
        #expect(Set(order).isSuperset(of: Array(10..<19) + Array(34..<40)))
        bench.check()
    }

    @Test func otherPhotosStartIfNoOperationInFocusIsLeft() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one, 2)
        bench.control(one) { $0.focus = .init(19...33) }
        #expect(bench.runAll().map(\.record.index) == [19])
        // The worker is preparing another operation in the focus.
        let held = HeldOperation(batch: one, number: 3, fencingToken: 1000)
        bench.claimed(held)
        bench.handle(.claimAnswered(.focus(one), [one]))
        #expect(bench.runAll().isEmpty)
        #expect(bench.handle(.claimAnswered(.focus(one), [])).schedulesWork)
        #expect(bench.runAll().isEmpty)
        bench.declined(held)
        #expect(bench.runAll().map(\.record.index) == Array(10..<19))
        bench.check()
    }

    /// While Redis is unreachable, no claim brings the photos in focus.
    @Test func unreachableRedisEndsTheWaitForTheFocus() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one, 2)
        bench.control(one) { $0.focus = .init(19...33) }
        #expect(bench.runAll().map(\.record.index) == [19])
        #expect(bench.handle(.claimsPaused).schedulesWork)
        #expect(bench.runAll().count == 9)
        bench.check()
    }

    /// Photos that started before the focus was set fill the window.
    @Test func photosInFocusStartInAFullWindow() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        bench.claim(one, 1)
        bench.claim(one, 2)
        for _ in 0..<3 { for photo in bench.begin() { bench.download(photo) } }
        #expect(bench.begin().isEmpty)
        bench.control(one) { $0.focus = .init(18...19) }
        #expect(bench.begin().map(\.record.index) == [18, 19])
        bench.check()
    }

    @Test func exclusiveFocusStopsPhotosOutsideAndKeepsTheirDownloadedBytes() throws {
        var bench = StateBench(downloads: 4, filtrations: 1)
        let held = [bench.claim(one, 1), bench.claim(one, 2)]
        let photos = bench.begin()
        for photo in photos.prefix(3) { bench.download(photo) }
        let queued = bench.queueFilters()
        _ = bench.filterBegins(queued[0])
        let effects = bench.control(one) { $0.focus = .init(10...12, only: true) }
        // The running filter and the running download stop.
        #expect(Set(effects.cancelled.map(\.record.index)) == [0, 3])
        bench.filterEnded(queued[0], nil)
        bench.downloadEnded(photos[3], nil)
        bench.check()
        #expect(bench.stateCodes(held[0]) == "NDD.......")
        #expect(bench.releasesDue(now: .now).isEmpty, "downloaded bytes are discarded")
        let inside = bench.begin()
        #expect(inside.map(\.record.index) == [10, 11, 12, 13])
        for photo in inside { bench.download(photo) }
        #expect(bench.filterAll().allSatisfy { $0.operation == held[1] })
        // The focus moves back. The downloaded photos need only their filters.
        bench.control(one) { $0.focus = .init(0...3, only: true) }
        #expect(Set(bench.filterAll().map(\.record.index)) == [1, 2])
        #expect(bench.begin().map(\.record.index) == [0, 3, 4, 5])
        bench.check()
    }

    @Test func releasesOperationsOutsideAFocusWithoutDownloadedBytes() throws {
        var bench = StateBench()
        let held = [bench.claim(one, 1), bench.claim(one, 2)]
        bench.control(one) { $0.focus = .init(12...12, only: true) }
        #expect(bench.releasesDue(now: .now) == [held[0]])
        bench.check()
    }

    @Test func fullWorkerClaimsForAFocusOnce() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...3 { bench.claim(one, number) }
        _ = bench.begin()
        #expect(bench.photosWanted == 0 && bench.demand.focused?.priority == nil)
        bench.control(one) { $0.focus = .init(200...210) }
        #expect(bench.demand.focused?.priority == .normal)
        bench.claim(one, 21)
        #expect(bench.demand.focused?.priority == nil, "the worker claims again although it has an operation in focus")
        bench.check()
    }

    /// The change notice about the focus may have been lost.
    @Test func fullWorkerClaimsForAFocusReceivedInAReply() throws {
        var bench = StateBench(downloads: 2, filtrations: 1)
        for number in 1...3 { bench.claim(one, number) }
        _ = bench.begin()
        var controls = bench.controls(of: one)
        controls.focus = .init(200...210)
        let effects = bench.answered(version: 1, sent: 0, [one: controls])
        #expect(effects.schedulesWork && bench.demand.focused?.priority == .normal)
    }

    /// The reply to a heartbeat with many operations has several parts.
    @Test func completeReplyNeedsNoFurtherHeartbeat() throws {
        var bench = StateBench()
        let first = ControlsAnswer(version: 3, sent: 0)
        #expect(bench.handle(.answered([first])).wakesHeartbeat, "the reply is not complete")
        let last = ControlsAnswer(version: 4, sent: 3, completeVersion: 4)
        #expect(!bench.handle(.answered([ControlsAnswer(version: 4, sent: 3), last])).wakesHeartbeat)
    }
}
