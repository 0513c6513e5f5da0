import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct HistoryTests {
    private func totals(_ test: TestStore) throws -> ClusterTotals { try test.store.totals() }

    /// Lets the next heartbeat add a sample.
    private func forgetTheLastSample(_ test: TestStore) throws {
        try test.command("HDEL", test.store.keys.control, "history.sampled")
    }

    @Test func totalsCountEachFinalPhotoOnce() throws {
        let test = try TestStore()
        let id = try test.submit(size: 5, operations: 2)
        let held = try test.claim(operations: 1)[0].held
        for _ in 1...2 { try test.report(held, "FFab.") }
        _ = try test.store.perform(test.store.cancelPhotos(id, [4...5]))
        var wanted = ClusterTotals()
        (wanted.filtered, wanted.failed, wanted.cancelled) = (2, 2, 2)
        #expect(try totals(test) == wanted)
        // The photos that are left count when the batch is cancelled.
        _ = try test.store.perform(test.store.cancel(id))
        _ = try test.store.perform(test.store.cancel(id))
        wanted.cancelled = 6
        #expect(try totals(test) == wanted)
    }

    @Test func totalsOutliveTheirBatch() throws {
        let test = try TestStore()
        let id = try test.submit(size: 3, operations: 1)
        let held = try test.claim()[0].held
        _ = try test.store.perform(
            test.store.report(held, worker: "worker", stateCodes: Array("FFF".utf8), bytesIn: 500, bytesOut: 30))
        while try test.store.perform(test.store.forget(id, unfinished: true)) == .more {}
        let totals = try totals(test)
        #expect((totals.filtered, totals.bytesIn, totals.bytesOut) == (3, 500, 30))
    }

    @Test func heartbeatsSampleEveryTenSeconds() throws {
        let test = try TestStore()
        try test.submit("a", size: 5, operations: 4) { $0.priority = .high }
        try test.submit("b", size: 2, operations: 3)
        try test.submit("c", size: 2, operations: 3)
        _ = try test.store.perform(test.store.suspend("c", .everything, true))
        try test.report(try test.claim(operations: 1)[0].held, "FFFFg")
        for _ in 1...3 { try test.heartbeat("worker") }
        let sample = try #require(try test.store.history().first)
        #expect(try test.store.history().count == 1)
        let now = try test.store.time()
        #expect((now - 5000...now).contains(sample.time))
        #expect(sample.queued == 3 * 5 + 3 * 2)
        #expect((sample.totals.filtered, sample.totals.failed) == (4, 1))
        // Samples of the same millisecond are one.
        while try test.store.time() == sample.time {}
        try forgetTheLastSample(test)
        try test.heartbeat()
        #expect(try test.store.history().count == 2)
    }

    @Test func onlySamplesOfTheLastHourAreKept() throws {
        let test = try TestStore()
        let now = try test.store.time()
        for time in [now - 3_700_000, now - 3_590_000, now + 60_000] {
            try test.command("ZADD", test.store.keys.history, "\(time)", "\(time) 0 0 0 0 0 0")
        }
        try test.heartbeat("worker")
        #expect(try test.store.history().map { $0.time < now } == [true, false])
    }

    @Test(arguments: ["nan", "-nan", "inf", "many", ""]) func damagedTimeOfTheLastSampleIsReplaced(text: String) throws
    {
        let test = try TestStore()
        try test.command("HSET", test.store.keys.control, "history.sampled", text)
        try test.heartbeat("worker")
        #expect(try test.store.history().count == 1)
    }

    /// Readers take no number above 2^53.
    @Test(arguments: ["9007199254740991", "-5"]) func unusableTotalStartsAgain(total: String) throws {
        let test = try TestStore()
        try test.submit(size: 2, operations: 1)
        try test.command("HSET", test.store.keys.totals, "photos.filtered", total)
        try test.report(try test.claim(operations: 1)[0].held, "FF")
        #expect(try test.store.totals().filtered == 2)
    }

    @Test func damageOfOtherProgramsDisturbsNoReport() throws {
        let test = try TestStore()
        let keys = test.store.keys
        try test.submit(size: 2, operations: 4)
        for (field, value) in [("photos.filtered", "many"), ("photos.failed", "9223372036854775807")] {
            try test.command("HSET", keys.totals, field, value)
        }
        for sample in ["1 2 3", "x x x x x x x", "5 -1 0 0 0 0 0"] {
            try test.command("ZADD", keys.history, "9", sample)
        }
        #expect(try test.store.history().isEmpty)
        try test.report(try test.claim(operations: 1)[0].held, "Fa")
        #expect(try test.store.totals().filtered == 1)
        #expect(try test.store.totals().failed == 1)
        // Keys of another type.
        for key in [keys.totals, keys.history] {
            try test.command("DEL", key)
            try test.command("SET", key, "text")
        }
        try forgetTheLastSample(test)
        try test.heartbeat("worker")
        #expect(try test.report(try test.claim(operations: 1)[0].held, "FF") == .accepted(ended: true, stateCodes: nil))
        #expect(try test.store.totals() == ClusterTotals())
        #expect(try test.store.history().count == 1)
    }

    @Test func sampleReadsAtMost200BatchesOfAPriority() throws {
        let test = try TestStore()
        for number in 0..<1000 { try test.submit("batch-\(number)", size: 1, operations: 1) }
        try test.heartbeat("worker")
        #expect(try test.store.history().first?.queued == 200)
    }
}
