import DarkroomRecipes
import DarkroomModel
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct ReadingTests {
    @Test func factsHaveTheSubmittedOptionsAndTheProgress() throws {
        let test = try TestStore()
        var options = BatchOptions()
        options.name = "summer photos"
        options.filters = [PhotoFilter("tilt-shift=radius:3"), .sepia()]
        options.output = "/photos/out"
        options.operationSize = 3
        options.priority = .high
        options.lease = .seconds(30)
        options.window = 7
        options.retain = nil
        let id = BatchID(submittedAt: try test.store.time())
        #expect(try test.store.facts(of: id) == nil)
        let reply = try test.store.perform(test.store.submit(id, options))
        guard case .submitted(let submitted) = reply else { throw TestFailure(description: "\(reply)") }
        _ = try test.store.perform([1, 2].map { test.feeding(id, $0, photos: 3) })
        let held = try test.claim(operations: 1)[0].held
        let call = test.store.report(
            held, worker: "worker", stateCodes: Array("Dgb".utf8), bytesIn: 10, bytesOut: 20,
            failures: [(1, Array("one".utf8)), (2, Array("two".utf8))])
        _ = try test.store.perform(call)

        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.options == options)
        #expect(facts.state == .executing)
        #expect((facts.photos, facts.operations, facts.operationsEnded, facts.executing) == (6, 2, 0, 1))
        #expect(!facts.sealed && !facts.suspended && !facts.cancelled)
        #expect((facts.counts.new, facts.counts.downloaded, facts.counts.failed) == (3, 1, 2))
        #expect(facts.failures == [.timeout: 1, .schemeDenied: 1])
        #expect((facts.bytesIn, facts.bytesOut) == (10, 20))
        #expect(facts.submitted == submitted)
        #expect(try #require(facts.started) >= submitted)
        #expect(facts.finished == nil)
        #expect(facts.feedDigest == "digest 2")
        #expect(try test.store.stateCodes(of: id, in: 1..<5) == Array("gbNN".utf8))
        #expect(try test.store.stateCodes(of: id, in: 4..<100) == Array("NN".utf8))
        #expect(try test.store.failures(of: id).map(\.json) == ["one", "two"])
        #expect(
            try test.store.operations(of: facts, in: 1...100) == [
                OperationFacts(
                    number: 1, state: .executing, worker: "worker", leaseExpiries: 0, stateCodes: Array("Dgb".utf8)),
                OperationFacts(number: 2, state: .queued, worker: nil, leaseExpiries: 0, stateCodes: Array("NNN".utf8)),
            ])
        try test.report(held, "F..")
        #expect(try test.store.operations(of: facts, in: 1...1)[0].state == .ended)
    }

    @Test func findsABatchByIDPrefixOrName() throws {
        let test = try TestStore()
        let none = expectError(StoreError.self) { try test.store.batch(named: "x") }
        #expect(none?.code == .noSuchBatch)
        try test.submit("20260101-1") { $0.name = "one" }
        try test.submit("20260101-2") { $0.name = "twice" }
        try test.submit("20260102-1") { $0.name = "twice" }
        #expect(try test.store.batch(named: "twice").id.description == "20260102-1", "not the newest batch")
        #expect(try test.store.batch(named: "20260101-1").options.name == "one")
        #expect(try test.store.batch(named: "20260102").id.description == "20260102-1")
        #expect(try test.store.batch(named: "one").id.description == "20260101-1")
        let ambiguous = expectError(StoreError.self) { try test.store.batch(named: "20260101") }
        #expect(ambiguous?.code == .ambiguousBatch)
        #expect(try test.store.batchIDs().map(\.description) == ["20260101-1", "20260101-2", "20260102-1"])
    }

    @Test(arguments: [
        ("holdays", "did you mean \"holidays\"?"), ("Holi", "did you mean \"holidays\", \"holidays 2\"?"),
        ("elsewhere", "the newest are 20260101-2 \"holidays\", 20260101-3 \"rome\", 20260101-4;"),
        ("", "the newest are"),
    ])
    func suggestsSimilarNamesForAnUnknownName(_ name: String, _ similar: String) throws {
        let test = try TestStore()
        for (number, name) in ["holidays 2", "holidays", "rome", ""].enumerated() {
            try test.submit("20260101-\(number + 1)") { $0.name = name }
        }
        let error = expectError(StoreError.self) { try test.store.batch(named: name) }
        #expect(error?.description.hasPrefix("no batch \"\(name)\": \(similar)") == true, "\(error?.description ?? "")")
    }
}
