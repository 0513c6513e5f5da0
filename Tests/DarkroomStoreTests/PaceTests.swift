import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// The recent progress of a batch, which heartbeats sample.
@Suite(.redisServer) struct PaceTests {
    private let test: TestStore
    private let id: BatchID
    private let held: HeldOperation

    init() throws {
        test = try TestStore()
        id = try test.submit(size: 10, operations: 3)
        held = try test.claim(operations: 1)[0].held
    }

    private func heartbeat(running: String?) throws {
        let facts = running.map { [(field: "running", value: $0)] } ?? []
        _ = try test.store.perform(test.store.heartbeat(worker: "worker", facts: facts, held: [held]))
    }

    /// Moves the last sample into the past.
    private func age(_ milliseconds: Int) throws {
        let pace = try #require(try test.batch(id).pace)
        let words = [pace.time - milliseconds, pace.done] + pace.periods.flatMap { [$0.milliseconds, $0.photos] }
        let text = words.map(String.init).joined(separator: " ")
        try test.command("HSET", test.store.keys.batch(id), "pace", text)
    }

    private var periods: [Int] { get throws { try #require(try test.batch(id).pace).periods.map(\.photos) } }

    @Test func claimBeginsThePace() throws {
        let pace = try #require(try test.batch(id).pace)
        #expect(pace.done == 0 && pace.periods.isEmpty)
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.isExecuting(now: pace.time + 10_000) && !facts.isExecuting(now: pace.time + 10_001))
    }

    @Test func heartbeatsAddAPeriodEveryFewSeconds() throws {
        try test.report(held, "FFFp......")
        try age(2500)
        try heartbeat(running: "\(id):4-5")
        #expect(try periods == [4])
        // A period without a finished photo counts while photos run.
        try age(2500)
        try heartbeat(running: "other:1 \(id):4-5")
        #expect(try periods == [0, 4])
        let worked = try #require(try test.batch(id).worked)
        #expect(worked >= 5000)
        let facts = try #require(try test.store.facts(of: id))
        let pace = try #require(facts.pace)
        let rate = try #require(facts.photosPerSecond(now: pace.time))
        #expect(rate > 0 && rate <= 4 / 5)
    }

    /// A suspended batch, or a batch that waits for another batch, has operations whose photos do not run.
    @Test func timeWithoutRunningPhotosDoesNotCount() throws {
        try age(6000)
        try heartbeat(running: "")
        try heartbeat(running: nil)
        try heartbeat(running: "other\(id):1")
        #expect(try periods == [])
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.photosPerSecond(now: try test.store.time() + 60_000) == 0)
        // The pause, and the photos of its beginning and its end, are not part of the rate.
        try test.report(held, "FF........")
        try age(20_000)
        try heartbeat(running: "\(id):4-5")
        #expect(try periods == [] && test.batch(id).pace?.done == 2 && test.batch(id).worked == nil)
    }

    @Test func periodsCoverAMinute() throws {
        for _ in 1...30 {
            try age(2500)
            try heartbeat(running: "\(id):0")
        }
        // `batch` checks that the periods cover at most 60 s.
        #expect(try (6...24).contains(periods.count))
        #expect(try #require(test.batch(id).worked) >= 30 * 2500)
    }

    @Test func finishedBatchHasTheAverageOfItsWork() throws {
        try test.report(held, "FFFFFFFFFF")
        let others = try test.claim()
        #expect(others.count == 2)
        try age(1000)
        for operation in others { try test.report(operation.held, "FFFFFFFFFF") }
        let batch = try test.batch(id)
        #expect(batch.state == .finished && batch.settings["pace"] == nil)
        let worked = try #require(batch.worked)
        #expect(worked >= 1000)
    }

    @Test(arguments: ["", "x", "1", "nan 0", "5 5 5", "99999999999999999999 1", String(repeating: "9", count: 2000)])
    func damagedPaceIsReplaced(text: String) throws {
        try test.command("HSET", test.store.keys.batch(id), "pace", text)
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.damage.isEmpty)
        try heartbeat(running: "\(id):0")
        #expect(try #require(try test.batch(id).pace).periods.isEmpty)
    }
}
