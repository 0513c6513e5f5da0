import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct ReportTests {
    @Test func countsEveryPhotoOnce() throws {
        let test = try TestStore()
        let id = try test.submit(size: 5, operations: 1)
        let held = try test.claim()[0].held
        for _ in 1...2 { #expect(try test.report(held, "DDDDD") == .accepted(ended: false, stateCodes: nil)) }
        #expect(try test.batch(id).counters.downloaded == 5)
        try test.report(held, "N....")
        #expect(try test.batch(id).stateCodes(1) == "NDDDD")
        for _ in 1...2 { try test.report(held, ".FaaC") }
        var wanted = BatchCounters()
        wanted.photos = 5
        wanted.executing = 1
        wanted.filtered = 1
        wanted.failed = 2
        wanted.cancelled = 1
        let batch = try test.batch(id)
        #expect(batch.counters == wanted)
        #expect(batch.reasons == [UInt8(ascii: "a"): 2])
    }

    /// Every byte that Swift reads as the code of a failure is one for the scripts, and no other byte is.
    @Test func failureCodesAreTheSameInSwiftAndInTheScripts() throws {
        let test = try TestStore()
        let failures = (0...UInt8.max).filter(FailureReason.isStateCode)
        let id = try test.submit(size: failures.count, operations: 1)
        let held = try test.claim()[0].held
        func report(_ codes: [UInt8]) throws -> ReportReply {
            try test.store.perform(
                test.store.report(
                    held, worker: "worker", stateCodes: codes, bytesIn: 0, bytesOut: 0,
                    failures: failures.indices.map { ($0, Array("\($0)".utf8)) }))
        }
        let unchanged = [UInt8](repeating: UInt8(ascii: "."), count: failures.count)
        for code in (0...UInt8.max) where !failures.contains(code) && !".NDFGC".utf8.contains(code) {
            #expect(throws: StoreError.self, "\(code)") { try report(unchanged.dropLast() + [code]) }
        }
        #expect(try report(failures) == .accepted(ended: true, stateCodes: nil))
        #expect(try test.batch(id).stateCodes == failures)
        #expect(try test.batch(id).reasons == Dictionary(uniqueKeysWithValues: failures.map { ($0, 1) }))
        // The entry of the operation is kept, and the facts count unknown reasons as `other`.
        let known = FailureReason.allCases.count
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.failures.values.reduce(0, +) == failures.count && facts.failures[.timeout] == 1)
        #expect(facts.failures.count == known && facts.failures[.other] == failures.count - known + 1)
        #expect(try test.store.failures(of: id).count == failures.count)
        // A retry finds known reasons, unknown reasons, and all.
        for (reasons, retried) in [([.timeout, .damaged], 2), ([.other], failures.count - known + 1), ([], known - 3)]
            as [([FailureReason], Int)]
        {
            let reply = try test.store.perform(test.store.retry(id, reasons: reasons))
            #expect(reply == .retried(photos: retried, notKept: 0, next: nil), "\(reasons)")
            guard let again = try test.claim().first else { throw TestFailure(description: "nothing is queued") }
            let codes = again.stateCodes.map { $0 == UInt8(ascii: "N") ? UInt8(ascii: "F") : $0 }
            _ = try test.store.perform(
                test.store.report(again.held, worker: "worker", stateCodes: codes, bytesIn: 0, bytesOut: 0))
            _ = try test.state()
        }
        #expect(try test.batch(id).reasons.isEmpty && test.batch(id).counters.filtered == failures.count)
    }

    /// `G` is a filtered photo that lost its gain map. It is counted once, however often it is reported.
    @Test func lostGainMapsAreCountedOnce() throws {
        let test = try TestStore()
        let id = try test.submit(size: 4, operations: 1)
        let held = try test.claim()[0].held
        func facts() throws -> BatchFacts { try test.store.batch(named: id.description) }
        #expect(try facts().lostGainMaps == 0)
        for _ in 1...2 { try test.report(held, "G.D.") }
        #expect(try test.batch(id).stateCodes(1) == "FNDN")
        #expect(try facts().lostGainMaps == 1 && facts().counts.filtered == 1)
        // The worker repeats its report with the second photo, after it has lost the reply to the first.
        let report = test.store.report(
            held, worker: "worker", stateCodes: Array("FaFF".utf8), lostGainMaps: [0, 1, 3], bytesIn: 0, bytesOut: 0)
        #expect(try test.store.perform(report) == .accepted(ended: true, stateCodes: nil, version: 0))
        #expect(try facts().lostGainMaps == 2 && facts().counts.filtered == 3 && facts().counts.failed == 1)
    }

    @Test func finalStateCodeDoesNotChange() throws {
        let test = try TestStore()
        let id = try test.submit(size: 4, operations: 1)
        let held = try test.claim()[0].held
        try test.report(held, "FaC.")
        for stateCodes in ["aFF.", "CCF.", "NDz.", "bbb."] {
            #expect(try test.report(held, stateCodes) == .accepted(ended: false, stateCodes: Array("FaCN".utf8)))
        }
        #expect(try test.report(held, "FaCF") == .accepted(ended: true, stateCodes: nil))
        #expect(try test.report(held, "zzzz") == .ended(stateCodes: Array("FaCF".utf8)))
        #expect(try test.batch(id).reasons == [UInt8(ascii: "a"): 1])
    }

    @Test func acceptsAReportWithoutChanges() throws {
        let test = try TestStore()
        let id = try test.submit(size: 60, operations: 1)
        let held = try test.claim()[0].held
        #expect(try test.report(held, String(repeating: ".", count: 60)) == .accepted(ended: false, stateCodes: nil))
        let stateCodes = String(repeating: "F", count: 30) + String(repeating: "g", count: 29) + "N"
        try test.report(held, stateCodes)
        #expect(try test.batch(id).stateCodes(1) == stateCodes)
    }

    @Test func countsBytesOncePerClaim() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        func report(_ held: HeldOperation, _ stateCodes: String, _ bytesIn: Int, _ bytesOut: Int) throws {
            let stateCodes = Array(stateCodes.utf8)
            _ = try test.store.perform(
                test.store.report(held, worker: "worker", stateCodes: stateCodes, bytesIn: bytesIn, bytesOut: bytesOut))
        }
        let first = try test.claim()[0].held
        for _ in 1...2 { try report(first, "F..", 1000, 10) }
        try report(first, "F..", 500, 5)  // an older report arrives late
        _ = try test.store.perform(test.store.release(first, worker: "worker"))
        let second = try test.claim()[0].held
        try report(second, ".F.", 200, 2)
        try report(second, ".FF", 100_000_000_000, 3)
        let batch = try test.batch(id)
        #expect(batch.bytesIn == 100_000_001_000)
        #expect(batch.bytesOut == 13)
    }

    @Test func keepsTheEntryOfAnOperationWithFailures() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3)
        let held = try test.claim().map(\.held)
        try test.report(held[0], "FFF")
        try test.report(held[1], "FaF")
        try test.report(held[2], "FFC")
        #expect(try test.batch(id).entries.keys.sorted() == [2])
        #expect(try test.store.entries(of: id, operations: [1, 2]) == [nil, [1, 2, 3]])
    }

    @Test func keepsEntriesOf10000Operations() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2)
        try test.command("HSET", test.store.keys.batch(id), "operations.kept", "9999")
        let held = try test.claim().map(\.held)
        for operation in held { try test.report(operation, "aaa") }
        #expect(try test.command("HKEYS", test.store.keys.operations(id)) == .array([.bytes([49])]))
        #expect(try test.command("HGET", test.store.keys.batch(id), "operations.kept").int == 10_000)
    }

    @Test func keeps10000FailuresAndCountsAll() throws {
        let test = try TestStore()
        let id = try test.submit(size: 1000, operations: 11)
        let stateCodes = [UInt8](repeating: UInt8(ascii: "g"), count: 1000)
        for operation in try (1...3).flatMap({ _ in try test.claim() }) {
            let failures = (0..<1000).map {
                (index: (operation.held.number - 1) * 1000 + $0, json: Array("{}".utf8))
            }
            _ = try test.store.perform(
                test.store.report(
                    operation.held, worker: "worker", stateCodes: stateCodes, bytesIn: 0, bytesOut: 0,
                    failures: failures))
        }
        let batch = try test.batch(id)
        #expect(batch.failures.count == 10_000)
        #expect(batch.reasons == [UInt8(ascii: "g"): 11_000])
        #expect(try test.store.failures(of: id).map(\.index) == Array(0..<10_000))
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.failures == [.timeout: 11_000])
        #expect(facts.state == .finished)
    }

    /// The limit of kept failures and of kept entries depends on the number of batches in the namespace.
    @Test(arguments: [(50, 10_000), (200, 5000), (4000, 250), (50_000, 100)])
    func batchesShareTheRoomForFailures(batches: Int, kept: Int) throws {
        let test = try TestStore()
        let id = try test.submit(size: 1000, operations: 2)
        for first in stride(from: 2, through: batches, by: 1000) {
            let others = (first...min(first + 999, batches)).flatMap { ["1", "other-\($0)"] }
            try test.command(["ZADD", test.store.keys.batches] + others)
        }
        func keep(_ operation: Int, _ stored: Int) throws -> Int {
            try test.command("DEL", test.store.keys.failures(id))
            let earlier = (0..<stored).flatMap { ["\(5000 + $0)", "{}"] }
            if stored > 0 { try test.command(["HSET", test.store.keys.failures(id)] + earlier) }
            try test.command("HSET", test.store.keys.batch(id), "operations.kept", "\(stored)")
            let held = try #require(try test.claim(operations: 1).first).held
            #expect(held.number == operation)
            _ = try test.store.perform(
                test.store.report(
                    held, worker: "worker", stateCodes: [UInt8](repeating: UInt8(ascii: "g"), count: 1000),
                    bytesIn: 0, bytesOut: 0,
                    failures: (0..<1000).map { ((operation - 1) * 1000 + $0, Array("{}".utf8)) }))
            return try #require(test.command("HLEN", test.store.keys.failures(id)).int)
        }
        #expect(try keep(1, kept - 1) == kept, "there was room for one")
        #expect(try test.command("HEXISTS", test.store.keys.operations(id), "1").int == 1)
        #expect(try keep(2, kept + 7) == kept + 7, "more were kept when there were fewer batches")
        #expect(try test.command("HEXISTS", test.store.keys.operations(id), "2").int == 0)
    }

    @Test func countsButDoesNotKeepATooLongFailure() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim()[0].held
        let texts = [512, 513, 200_000].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) }
        let report = test.store.report(
            held, worker: "worker", stateCodes: Array("ggg".utf8), bytesIn: 0, bytesOut: 0,
            failures: texts.enumerated().map { (index: $0, json: $1) })
        #expect(try test.store.perform(report) == .accepted(ended: true, stateCodes: nil))
        #expect(try test.store.failures(of: id).map(\.index) == [0])
        #expect(try test.batch(id).reasons == [UInt8(ascii: "g"): 3])
    }

    @Test(arguments: ["FF.", "FFD", "FFN"]) func sendsCancelledPhotosBeforeTheOperationEnds(
        _ stateCodes: String
    ) throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1) { $0.output = "/photos" }
        let held = try test.claim()[0].held
        _ = try test.store.perform(test.store.cancelPhotos(id, [2...2]))
        #expect(try test.report(held, stateCodes) == .accepted(ended: false, stateCodes: Array("FFC".utf8), version: 1))
        #expect(try test.report(held, "FFC") == .accepted(ended: true, stateCodes: nil, version: 1))
    }

    @Test func rejectsAReportWithWrongStateCodes() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim()[0].held
        for stateCodes in ["FF", "FFFF", "FF!", "FFX"] {
            #expect(throws: StoreError.self) { try test.report(held, stateCodes) }
        }
        #expect(try test.batch(id).stateCodes(1) == "NNN")
    }

    @Test func rejectsAReportOfAForgottenBatch() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim()[0].held
        #expect(try test.store.perform(test.store.forget(id)) == .unfinished(.executing))
        #expect(try test.store.perform(test.store.forget(id, unfinished: true)) == .forgotten)
        #expect(try test.report(held, "FFF") == .gone)
        #expect(try test.store.perform(test.store.release(held, worker: "worker")) == .gone)
        #expect(try test.state().batches.isEmpty)
    }
}
