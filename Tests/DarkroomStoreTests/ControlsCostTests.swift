import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// A control changes flags of a batch and its entry in a ready queue, but no operations or photos. Therefore its cost
/// does not depend on the size of the batch.
@Suite(.redisServer) struct ControlsCostTests {
    /// The number of calls of each command since Redis started, including calls in scripts.
    private func counts(_ test: TestStore) throws -> [String: Int] {
        let text = try test.command("INFO", "commandstats").string ?? ""
        var counts: [String: Int] = [:]
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("cmdstat_") {
            let parts = line.dropFirst("cmdstat_".count).split(separator: ":calls=")
            counts[String(parts[0])] = parts.last.flatMap { $0.split(separator: ",").first }.flatMap { Int($0) }
        }
        return counts
    }

    private func cost<Reply>(_ test: TestStore, _ call: ScriptCall<Reply>) throws -> [String: Int] {
        let before = try counts(test)
        _ = try test.store.perform(call)
        return try counts(test).merging(before) { $0 - $1 }.filter { $0.value != 0 && $0.key != "info" }
    }

    /// Commands whose cost is constant or logarithmic in the size of the key.
    private static let cheap: Set = [
        "evalsha", "hget", "hmget", "hset", "hdel", "hincrby", "zadd", "zrem", "zscore", "zcard", "zcount", "exists",
        "publish", "time", "unlink",
    ]

    @Test func costIsTheSameForAnySize() throws {
        let test = try TestStore()
        let small = try test.submit("small", operations: 2, sealed: false)
        let large = try test.submit("large", size: 50, operations: 3000, sealed: false)
        func compare<Reply>(_ name: String, _ call: (BatchID) -> ScriptCall<Reply>) throws {
            let costs = try [small, large].map { try cost(test, call($0)) }
            #expect(costs[0] == costs[1], "\(name)")
            #expect(Set(costs[1].keys).isSubset(of: Self.cheap), "\(name): \(costs[1].keys.sorted())")
        }
        try compare("suspend") { test.store.suspend($0, .everything, true) }
        try compare("resume") { test.store.suspend($0, .everything, false) }
        try compare("prioritize") { test.store.prioritize($0, .high) }
        try compare("focus") { test.store.focus($0, BatchControls.Focus(1...4, only: true)) }
        try compare("clear the focus") { test.store.focus($0, nil) }
        try compare("cancel") { test.store.cancel($0) }
        #expect(try test.batch(large).state == .finished)
    }
}
