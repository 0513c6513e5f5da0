import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing
import WorkerSupport

@testable import DarkroomWorker

/// Applies random controls to batches while workers start and stop. At the end every batch is finished, and state
/// codes, counters, manifests and files agree.
///
/// A failure prints its seed. To repeat a run, or for a longer run, set these environment variables:
/// `DARKROOM_CONTROL_SEED=<seed> DARKROOM_CONTROL_ROUNDS=200 DARKROOM_CONTROL_BATCHES=50 swift test --filter ControlTorture`.
@Suite(.redisServer) struct ControlTortureTests {
    @Test func batchesUnderRandomControlsFinishConsistently() throws {
        let environment = ProcessInfo.processInfo.environment
        let rounds = environment["DARKROOM_CONTROL_ROUNDS"].flatMap { Int($0) } ?? 25
        let batches = environment["DARKROOM_CONTROL_BATCHES"].flatMap { Int($0) } ?? 10
        let seed = environment["DARKROOM_CONTROL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)
        print("control torture: \(rounds) rounds on \(batches) batches, seed \(seed)")
        let torture = try ControlTorture(.current, seed: seed)
        defer { torture.stop() }
        try torture.run(rounds: rounds, batches: batches)
        print("control torture: \(torture.summary)")
    }
}

/// One run with three workers, random controls, and batches with photos that fail once or always.
private final class ControlTorture {
    private let darkroom: Darkroom
    private let photos: PhotoServer
    private let flaky: HostileServer
    private let urls: [String]
    private let begun = Signal()
    private var random: SeededGenerator
    private var workers: [Worker] = []
    private var open: [BatchID] = []
    private var all: [BatchID] = []
    private var done: [String: Int] = [:]

    init(_ redis: RedisServer, seed: UInt64) throws {
        darkroom = try Darkroom(redis)
        random = SeededGenerator(seed: seed)
        let image = try TestFiles.sample("chelsea.jpg")
        var routes: [String: HostileServer.Route] = [:]
        for number in 0..<40 {
            routes["/flaky-\(number).jpg"] = .inTurn([.answer(status: 503), .answer(body: image)])
            routes["/slow-\(number).jpg"] = .drip(body: Array(image.prefix(100)), pause: .milliseconds(5))
        }
        let (photos, flaky) = (try PhotoServer(folder: TestFiles.samples), try HostileServer(routes))
        let whole = ["chelsea.jpg", "moon.png", "coffee.jpg"].map { photos.url($0) }
        urls =
            (0..<40).flatMap { [flaky.url("/flaky-\($0).jpg"), flaky.url("/slow-\($0).jpg")] }
            + ["NO URL", photos.url("is-not-there.jpg")] + (1...60).flatMap { _ in whole }
        self.photos = photos
        self.flaky = flaky
    }

    var summary: String {
        "\(all.count) batches; "
            + done.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    func stop() {
        workers.end()
        flaky.stop()
        photos.stop()
    }

    func run(rounds: Int, batches: Int) throws {
        for _ in 1...3 { try startWorker() }
        for _ in 1...batches { try submit() }
        for _ in 1...rounds {
            for _ in 1...Int.random(in: 1...4, using: &random) { try applyRandomControl() }
            if chance(15) { try replaceWorker() }
            open.removeAll { id in (try? darkroom.store.facts(of: id))??.state == .finished && chance(50) }
            while open.count < batches { try submit() }
            // Waits for the start of a photo, so that controls arrive while photos are in every stage.
            begun.wait(timeout: .milliseconds(50))
        }
        try end()
        for id in all { try check(id) }
    }

    // MARK: Controls

    private func applyRandomControl() throws {
        let store = darkroom.store
        guard let id = open.randomElement(using: &random) else { return }
        let part = QueuePart.allCases.randomElement(using: &random)!  // the list is not empty
        let first = Int.random(in: 0..<40, using: &random)
        let range = first...min(39, first + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<20: try note("suspend", store.perform(store.suspend(id, part, true)))
        case 20..<45: try note("resume", store.perform(store.suspend(id, part, false)))
        case 45..<48: try note("suspend cluster", store.perform(store.suspend(nil, part, true)))
        case 48..<56:
            for part in QueuePart.allCases {
                try note("resume cluster", store.perform(store.suspend(nil, part, false)))
            }
        case 56..<61: try note("cancel", store.perform(store.cancel(id)))
        case 61..<68: try note("cancel photos", store.perform(store.cancelPhotos(id, [range])))
        case 68..<78:
            let priority = BatchPriority.allCases.randomElement(using: &random)!  // the list is not empty
            try note("prioritize", store.perform(store.prioritize(id, priority)))
        case 78..<86: try note("focus", store.perform(store.focus(id, .init(range, only: chance(40)))))
        case 86..<92: try note("clear focus", store.perform(store.focus(id, nil)))
        case 92..<98: try note("retry", store.perform(store.retry(id)))
        default:
            let limits = store.setLimits(
                downloads: Int.random(in: 1...8, using: &random), filtrations: chance(50) ? 1 : 2)
            try note("limits", store.perform(limits))
        }
    }

    private func note(_ what: String, _ reply: some Any) { done[what, default: 0] += 1 }

    private func submit() throws {
        let urls = (0..<40).map { _ in self.urls.randomElement(using: &random)! }  // the list is not empty
        let priority = BatchPriority.allCases.randomElement(using: &random)!
        let size = Int.random(in: 1...12, using: &random)
        let folder = darkroom.folder + "/\(all.count)"
        let id = try darkroom.submit(
            urls,
            darkroom.options {
                $0.output = folder
                $0.operationSize = size
                $0.priority = priority
            })
        open.append(id)
        all.append(id)
    }

    private func startWorker() throws {
        let worker = try darkroom.worker {
            $0.downloads = 8
            $0.filtrations = 2
            $0.gracePeriod = .milliseconds(Int.random(in: 0...300, using: &self.random))
            $0.observer = { [begun = self.begun] in if case .step = $0 { begun.raise() } }
        }
        try worker.start()
        workers.append(worker)
    }

    private func replaceWorker() throws {
        let worker = workers.remove(at: Int.random(in: workers.indices, using: &random))
        [worker].end()
        try startWorker()
        done["workers replaced", default: 0] += 1
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    // MARK: The end

    /// Resumes the cluster and the batches, clears limits, and waits until all batches are finished.
    private func end() throws {
        let store = darkroom.store
        for part in QueuePart.allCases { _ = try store.perform(store.suspend(nil, part, false)) }
        _ = try store.perform(store.clearLimits())
        for id in all {
            for part in QueuePart.allCases { _ = try store.perform(store.suspend(id, part, false)) }
            _ = try store.perform(store.focus(id, nil))
        }
        for id in all { try darkroom.wait(id) }
    }

    private func check(_ id: BatchID) throws {
        let facts = try #require(try darkroom.store.facts(of: id))
        let stateCodes = try darkroom.store.stateCodes(of: id, in: 0..<facts.photos).map { stateCode in
            facts.cancelled && (stateCode == UInt8(ascii: "N") || stateCode == UInt8(ascii: "D"))
                ? UInt8(ascii: "C") : stateCode
        }
        #expect(stateCodes.count == 40)
        #expect(stateCodes.count { $0 == UInt8(ascii: "F") } == facts.counts.filtered, "\(id)")
        #expect(stateCodes.count { $0 == UInt8(ascii: "C") } == facts.counts.cancelled, "\(id)")
        #expect(stateCodes.count { FailureReason(stateCode: $0) != nil } == facts.counts.failed, "\(id)")
        #expect(facts.failures.values.reduce(0, +) == facts.counts.failed, "\(id)")
        #expect(facts.counts.new == 0 && facts.counts.downloaded == 0 && facts.executing == 0, "\(id)")
        let lines = try darkroom.manifest(of: id, in: facts.options.output)
        for (index, stateCode) in stateCodes.enumerated() {
            let state = try #require(PhotoState(stateCode: stateCode))
            guard state != .cancelled else { continue }
            let line = try #require(lines[index], "photo \(index) of \(id), \(state.word), has no line")
            #expect(line.state == state.word, "photo \(index) of \(id)")
            guard state == .filtered else { continue }
            let path = try #require(line.file, "photo \(index) of \(id) has a line without a file")
            let file = try #require(
                FileManager.default.contents(atPath: "\(facts.options.output)/\(path)"),
                "photo \(index) of \(id) has no file")
            #expect(file.count == line.bytes)
        }
        let names = try FileManager.default.subpathsOfDirectory(atPath: facts.options.output)
        let left = names.filter { $0.split(separator: "/").last?.hasPrefix(".") == true }
        #expect(left.isEmpty, "temporary files of \(id) remain: \(left)")
    }
}
