import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// Tests the effects of controls on a worker, with a real Redis server.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct WorkerControlTests {
    let darkroom: Darkroom
    let photos: PhotoServer
    let events = TraceEvents()

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    private var urls: [String] { photos.paths.filter { $0.hasSuffix(".jpg") }.sorted().map { photos.url($0) } }
    private var photo: [UInt8] {
        get throws {
            let path = try #require(photos.paths.filter { $0.hasSuffix(".jpg") }.min())
            return Array(try #require(FileManager.default.contents(atPath: TestFiles.samples + path)))
        }
    }

    private func configured(
        _ change: @escaping (inout WorkerSetup) -> Void = { _ in }
    ) -> (inout WorkerSetup) -> Void {
        { [events] in
            $0.observer = events.observe
            $0.downloadRules.connectionsPerHost = .max
            change(&$0)
            // No more requests than downloads, so that the server can count them.
            $0.hooks.transfer.maxRequests = $0.configuration.downloadSlots
        }
    }

    /// Waits until the worker state satisfies `isMet`. The state in Redis may be newer than the worker state.
    private func wait(
        _ worker: Worker, _ awaited: String, until isMet: (WorkerState) -> Bool
    ) throws {
        try waitUntil("the worker state contains \(awaited)") { worker.core.read { isMet($0) } }
    }

    // MARK: Cancel

    @Test func cancelStopsRunningTransfersBeforeTheNextHeartbeat() async throws {
        let slow = try HostileServer(["/slow": .stall])
        defer { slow.stop() }
        // On an idle machine, cancelling takes milliseconds. Other tests may use all cores for a moment, so two of ten attempts
        // may be slow. A heartbeat is sent every 3 s, so that a third of the attempts would be fast without change notices.
        var times: [Duration] = []
        try await darkroom.withWorker(configured { $0.downloads = 16 }) { _ in
            for attempt in 1...10 {
                let id = try darkroom.submit(
                    (0..<40).map { _ in slow.url("/slow") }, darkroom.options { $0.operationSize = 4 })
                #expect(await slow.wait { $0.running == 16 })
                let reply = try darkroom.store.perform(darkroom.store.cancel(id))
                let cancelled = ContinuousClock.now
                #expect(reply == .cancelled(isNew: true, isFinished: false))
                let ends = events.wait(.downloadEnded, count: 16 * attempt)
                times.append(try #require(ends.map(\.instant).max()) - cancelled)
                let facts = try darkroom.wait(id)
                #expect(facts.counts.cancelled == 40 && facts.executing == 0)
                #expect(await slow.wait { $0.running == 0 })
            }
        }
        #expect(times.count { $0 < .seconds(1) } >= 8, "cancelling took \(times)")
        #expect(events.all.count { $0.kind == .downloadBegan } == 160, "queued work started")
    }

    @Test func photosWrittenBeforeACancelKeepTheirLines() async throws {
        let slow = try HostileServer(["/slow": .stall])
        defer { slow.stop() }
        let id = try darkroom.submit([urls[0], slow.url("/slow"), slow.url("/slow")], darkroom.options())
        let facts = try await darkroom.withWorker(configured()) { _ in
            _ = events.wait(.filtrationEnded, count: 1)
            #expect(await slow.wait { $0.running == 2 })
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            return try darkroom.wait(id)
        }
        let lines = try darkroom.manifest(of: id)
        #expect(lines.count == 1 && lines[0]?.state == "filtered")
        let file = try #require(lines[0]?.file)
        #expect(FileManager.default.fileExists(atPath: "\(darkroom.folder)/\(file)"))
        #expect(facts.counts.cancelled + facts.counts.filtered == 3)
    }

    @Test func heartbeatAppliesACancelWhoseChangeNoticeWasLost() async throws {
        let slow = try HostileServer(["/slow": .stall])
        defer { slow.stop() }
        let id = try darkroom.submit([slow.url("/slow")], darkroom.options())
        try await darkroom.withWorker(configured()) { _ in
            #expect(await slow.wait { $0.running == 1 })
            // Redis disconnects the subscriber. The change notice is published before the subscriber reconnects.
            _ = try darkroom.store.connection.call(.init("CLIENT", "KILL", "TYPE", "pubsub"))
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            let facts = try darkroom.wait(id)
            #expect(facts.counts.cancelled == 1)
        }
    }

    @Test func photosCancelledBeforeTheClaimHaveLines() throws {
        let id = try darkroom.submit(Array(repeating: urls[0], count: 5), darkroom.options { $0.operationSize = 2 })
        let reply = try darkroom.store.perform(darkroom.store.cancelPhotos(id, [0...1, 4...4]))
        #expect(reply == .cancelled(3, wereFinal: 0))
        let facts = try darkroom.withWorker(configured()) { _ in try darkroom.wait(id) }
        #expect(facts.counts.cancelled == 3 && facts.counts.filtered == 2)
        try darkroom.check(id)
    }

    @Test func cancelStopsSinglePhotos() async throws {
        let slow = try HostileServer(["/a": .stall, "/b": .stall])
        defer { slow.stop() }
        let id = try darkroom.submit([slow.url("/a"), slow.url("/b"), urls[0]], darkroom.options())
        let facts = try await darkroom.withWorker(configured()) { _ in
            #expect(await slow.wait { $0.running == 2 })
            let first = try darkroom.store.perform(darkroom.store.cancelPhotos(id, [0...0]))
            #expect(first == .cancelled(1, wereFinal: 0))
            #expect(await slow.wait { $0.departures["/a"] == 1 })
            #expect(slow.log.departures["/b"] == nil)
            _ = try darkroom.store.perform(darkroom.store.cancelPhotos(id, [1...1]))
            return try darkroom.wait(id)
        }
        #expect(facts.counts.cancelled == 2 && facts.counts.filtered == 1)
        try darkroom.check(id)
    }

    // MARK: Suspend

    @Test func suspendLetsTransfersEndAndResumeFiltersDownloadedPhotos() async throws {
        let held = try HostileServer(["/photo": .held(.answer(body: photo))])
        defer { held.stop() }
        let id = try darkroom.submit(
            (0..<6).map { _ in held.url("/photo") }, darkroom.options { $0.operationSize = 6 })
        let finished = try await darkroom.withWorker(configured { $0.downloads = 3 }) { worker in
            #expect(await held.wait { $0.running == 3 })
            _ = try darkroom.store.perform(darkroom.store.suspend(id, .everything, true))
            try wait(worker, "the suspension") { $0.batches[id]?.hold.allowsFilters == false }
            held.release()
            _ = events.wait(.downloadEnded, count: 3)
            let facts = try darkroom.wait(id, "suspended with 3 downloaded photos") { $0.counts.downloaded == 3 }
            #expect(facts.executing == 1)
            #expect(
                events.all.allSatisfy { $0.kind != .filtrationBegan }, "a filter began while its batch was suspended")
            #expect(held.log.requests["/photo"] == 3, "a download began while its batch was suspended")
            _ = try darkroom.store.perform(darkroom.store.suspend(id, .everything, false))
            return try darkroom.wait(id)
        }
        #expect(finished.counts.filtered == 6)
        #expect(held.log.requests["/photo"] == 6, "downloaded photos were downloaded again")
        try darkroom.check(id)
    }

    @Test func suspendedClusterReleasesOperationsWithoutTransfersAndResumes() async throws {
        let held = try HostileServer(["/gone": .held(.answer(status: 404))])
        defer { held.stop() }
        let id = try darkroom.submit(
            (0..<40).map { _ in held.url("/gone") }, darkroom.options { $0.operationSize = 1 })
        try await darkroom.withWorker(configured { $0.downloads = 2 }) { _ in
            #expect(await held.wait { $0.running == 2 })
            _ = try darkroom.store.perform(darkroom.store.suspend(nil, .everything, true))
            try darkroom.wait(id, "released except for running transfers") { $0.executing == 2 }
            held.release()
            let facts = try darkroom.wait(id, "suspended without executing operations") { $0.executing == 0 }
            #expect(facts.counts.failed == 2 && held.log.requests["/gone"] == 2)
            _ = try darkroom.store.perform(darkroom.store.suspend(nil, .everything, false))
            try darkroom.wait(id)
        }
        #expect(held.log.requests["/gone"] == 40)
        try darkroom.check(id)
    }

    @Test func suspendWithdrawsDownloadsThatWaitForTheirHost() async throws {
        let held = try HostileServer(["/gone": .held(.answer(status: 404))])
        defer { held.stop() }
        let id = try darkroom.submit((0..<8).map { _ in held.url("/gone") }, darkroom.options())
        try await darkroom.withWorker(configured { $0.downloadRules.connectionsPerHost = 2 }) { _ in
            #expect(await held.wait { $0.running == 2 })
            _ = try darkroom.store.perform(darkroom.store.suspend(id, .downloads, true))
            _ = events.wait(.downloadEnded, count: 6)
            held.release()
            let facts = try darkroom.wait(id, "released") { $0.executing == 0 }
            #expect(facts.counts.failed == 2 && held.log.requests["/gone"] == 2)
            _ = try darkroom.store.perform(darkroom.store.suspend(id, .downloads, false))
            try darkroom.wait(id)
        }
        try darkroom.check(id)
    }

    // MARK: Priority, focus, limits

    @Test func fullWorkerRunsHigherPrioritiesFirst() async throws {
        let held = try HostileServer(["/low": .held(.answer(status: 404)), "/high": .answer(status: 404)])
        defer { held.stop() }
        let low = try darkroom.submit(
            (0..<200).map { _ in held.url("/low") }, darkroom.options { $0.priority = .low })
        let high = try await darkroom.withWorker(configured { $0.downloads = 4 }) { worker in
            #expect(await held.wait { $0.running == 4 })
            let high = try darkroom.submit(
                [held.url("/high")],
                darkroom.options {
                    $0.priority = .veryHigh
                    $0.output = ""
                })
            try wait(worker, "the operation of high priority") { $0.operations.keys.contains { $0.batch == high } }
            held.release()
            try darkroom.wait(high)
            try darkroom.wait(low)
            return high
        }
        let began = events.all.filter { $0.kind == .downloadBegan }
        let place = try #require(began.firstIndex { $0.batch == high })
        #expect(place <= 12, "the photo of high priority started at position \(place)")
    }

    @Test func fullWorkerClaimsTheFocus() async throws {
        let held = try HostileServer(["/photo": .held(.answer(status: 404))])
        defer { held.stop() }
        let id = try darkroom.submit(
            (0..<400).map { _ in held.url("/photo") }, darkroom.options { $0.operationSize = 10 })
        try await darkroom.withWorker(configured { $0.downloads = 4 }) { worker in
            #expect(await held.wait { $0.running == 4 })
            _ = try darkroom.store.perform(darkroom.store.focus(id, .init(305...306)))
            try wait(worker, "the operation in focus") { $0.operations.keys.contains { $0.number == 31 } }
            held.release()
            try darkroom.wait(id)
        }
        let began = events.all.filter { $0.kind == .downloadBegan }.map(\.index)
        let places = [305, 306].compactMap { began.firstIndex(of: $0) }
        #expect(places.count == 2 && places.allSatisfy { $0 < 16 }, "the focus started at positions \(places)")
        try darkroom.check(id)
    }

    @Test func focusOnlyStopsTheRestUntilItIsCleared() async throws {
        let held = try HostileServer(["/outside": .stall, "/inside": .answer(status: 404)])
        defer { held.stop() }
        let id = try darkroom.submit(
            (0..<6).map { held.url($0 < 3 ? "/outside" : "/inside") }, darkroom.options { $0.operationSize = 3 })
        try await darkroom.withWorker(configured { $0.downloads = 3 }) { _ in
            #expect(await held.wait { $0.running == 3 })
            _ = try darkroom.store.perform(darkroom.store.focus(id, .init(4...4, only: true)))
            let facts = try darkroom.wait(id, "finished within its focus") {
                $0.counts.failed == 3 && $0.executing == 0
            }
            #expect(facts.counts.new == 3 && facts.counts.cancelled == 0)
            #expect(await held.wait { $0.departures["/outside"] == 3 })
            _ = try darkroom.store.perform(darkroom.store.focus(id, nil))
            #expect(await held.wait { $0.requests["/outside"] == 6 })
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try darkroom.wait(id)
        }
    }

    @Test func limitsHoldWhileTheyAreSet() async throws {
        let server = try HostileServer(["/photo": .stallHalfWay(body: [1], declared: 2)])
        defer { server.stop() }
        _ = try darkroom.store.perform(darkroom.store.setLimits(downloads: 2, filtrations: 1))
        let id = try darkroom.submit((0..<30).map { _ in server.url("/photo") }, darkroom.options())
        try darkroom.withWorker(configured { $0.downloads = 8 }) { worker in
            // A further photo has arrived, but must wait.
            func isFull(_ state: WorkerState, _ downloads: Int) -> Bool {
                state.queues.total(\.carrying) == downloads && state.queues.total(\.arrived) > 0
            }
            try wait(worker, "2 downloads") { isFull($0, 2) }
            _ = try darkroom.store.perform(darkroom.store.setLimits(downloads: 5, filtrations: nil))
            try wait(worker, "5 downloads") { isFull($0, 5) }
            _ = try darkroom.store.perform(darkroom.store.clearLimits())
            try wait(worker, "8 downloads") { $0.queues.total(\.carrying) == 8 }
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try darkroom.wait(id)
        }
    }

    @Test func largeBatchDoesNotDelayASmallOne() throws {
        let large = try darkroom.submit(
            (0..<100).flatMap { _ in urls }, darkroom.options { $0.operationSize = 10 })
        // A worker has up to 12 photos of the large batch in progress when the small batch arrives.
        let two = configured {
            $0.downloads = 8
            $0.filtrations = 1
        }
        let others = try darkroom.workers(2, two).run { _ in
            _ = events.wait(.filtrationEnded, count: 40)
            let small = try darkroom.submit(
                (0..<100).map { urls[$0 % urls.count] },
                darkroom.options {
                    $0.operationSize = 10
                    $0.output = ""
                })
            let submitted = ContinuousClock.now
            try darkroom.wait(small)
            let ends = events.all.filter { $0.kind == .filtrationEnded && $0.instant > submitted }
            let last = try #require(ends.lastIndex { $0.batch == small })
            let others = ends[..<last].count { $0.batch == large }
            _ = try darkroom.store.perform(darkroom.store.cancel(large))
            return others
        }
        // `others` is about 80 if the batches take turns, and several hundred if the large batch runs first.
        #expect(others <= 300, "\(others) photos of the large batch started before the small one finished")
    }

    // MARK: Random controls

    @Test func batchesUnderRandomControlsFinishConsistently() throws {
        // Each batch has its own folder, because a folder belongs to the last batch that takes it.
        let outputs = (0..<6).map { "\(darkroom.folder)/\($0)" }
        let ids = try outputs.map { output in
            let options = darkroom.options {
                $0.output = output
                $0.operationSize = 5
            }
            return try darkroom.submit((0..<15).flatMap { _ in urls }, options)
        }
        let store = darkroom.store
        try darkroom.workers(2, configured { $0.filtrations = 1 }).run { _ in
            for step in 0..<2000 {
                let id = ids.randomElement()!  // the list is not empty
                switch Int.random(in: 0..<11) {
                case 0: _ = try store.perform(store.suspend(id, QueuePart.allCases.randomElement()!, true))
                case 1: _ = try store.perform(store.suspend(nil, QueuePart.allCases.randomElement()!, true))
                case 2, 8, 9: for part in QueuePart.allCases { _ = try store.perform(store.suspend(nil, part, false)) }
                case 3, 10: for part in QueuePart.allCases { _ = try store.perform(store.suspend(id, part, false)) }
                case 4: _ = try store.perform(store.prioritize(id, BatchPriority.allCases.randomElement()!))
                case 5: _ = try store.perform(store.focus(id, .init(3...9, only: Bool.random())))
                case 6: _ = try store.perform(store.focus(id, nil))
                default:
                    let index = Int.random(in: 0..<(14 * urls.count))
                    _ = try store.perform(store.cancelPhotos(id, [index...(index + 1)]))
                }
                if step == 1000 { _ = try store.perform(store.cancel(ids[0])) }
            }
            for part in QueuePart.allCases {
                _ = try store.perform(store.suspend(nil, part, false))
                for id in ids { _ = try store.perform(store.suspend(id, part, false)) }
            }
            for id in ids { _ = try store.perform(store.focus(id, nil)) }
            for id in ids {
                let facts = try darkroom.wait(id)
                #expect(facts.executing == 0)
            }
        }
        for (id, output) in zip(ids, outputs) {
            let facts = try #require(try store.facts(of: id))
            guard !facts.cancelled else { continue }
            #expect(facts.counts.filtered + facts.counts.cancelled == 15 * urls.count)
            let lines = try darkroom.manifest(of: id, in: output)
            let stateCodes = try store.stateCodes(of: id, in: 0..<facts.photos)
            for (index, stateCode) in stateCodes.enumerated() where stateCode == UInt8(ascii: "F") {
                #expect(lines[index]?.state == "filtered", "photo \(index) has no line")
            }
        }
    }
}

/// Collects the trace events of the photos of a test.
final class TraceEvents: Sendable {
    private let events = Locked<[TraceEvent]>([])
    private let changed = NSCondition()

    @Sendable func observe(_ observation: WorkerObservation) {
        guard case .step(let event) = observation else { return }
        changed.lock()
        events.withLock { $0.append(event) }
        changed.broadcast()
        changed.unlock()
    }

    var all: [TraceEvent] { events.withLock { $0 } }

    /// Waits for `count` events of `kind`, at most 20 s.
    func wait(_ kind: TraceEvent.Kind, count: Int) -> [TraceEvent] {
        let deadline = Date(timeIntervalSinceNow: 20)
        changed.lock()
        defer { changed.unlock() }
        while true {
            let found = all.filter { $0.kind == kind }
            if found.count >= count { return found }
            guard changed.wait(until: deadline) else {
                Issue.record("\(found.count) of \(count) photos reached \(kind) within 20 s")
                return found
            }
        }
    }
}
