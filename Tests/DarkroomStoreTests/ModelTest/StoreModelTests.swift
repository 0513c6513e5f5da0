import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Compares the scripts with the model in random runs. A failure prints its seed. To repeat a run:
/// `DARKROOM_MODEL_SEED=<seed> DARKROOM_MODEL_STEPS=<steps> swift test --filter StoreModelTests`.
@Suite(.redisServer) struct StoreModelTests {
    @Test func scriptsAgreeWithTheModel() throws {
        let environment = ProcessInfo.processInfo.environment
        let steps = environment["DARKROOM_MODEL_STEPS"].flatMap { Int($0) } ?? 5000
        let seed = environment["DARKROOM_MODEL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)
        print("model test: \(steps) steps, seed \(seed)")
        let server = RedisServer.current
        var met: [String: Int] = [:]
        // A new namespace every 20,000 steps keeps a failing run short enough to repeat.
        for (round, start) in stride(from: 0, to: steps, by: 20_000).enumerated() {
            let store = BatchStore(server.configuration, keys: try Keys(namespace: server.namespace()))
            defer { store.connection.close() }
            do {
                let run = try ModelRun(store, seed: seed + UInt64(round))
                defer { run.bench.close() }
                try run.run(steps: min(20_000, steps - start))
                met.merge(run.bench.met, uniquingKeysWith: +)
            } catch let failure as TestFailure {
                Issue.record("seed \(seed + UInt64(round)), \(failure)")
                return
            }
        }
        // Some kinds are so rare that a short run may not produce them.
        let missed = Answer.kinds.subtracting(met.keys)
        if steps >= 5000 {
            #expect(missed.count < (steps < 20_000 ? 15 : 8), "replies that the run never produced: \(missed)")
        }
        if steps > 5000 { for (kind, count) in met.sorted(by: { $0.key < $1.key }) { print("\(count) \(kind)") } }
    }
}
