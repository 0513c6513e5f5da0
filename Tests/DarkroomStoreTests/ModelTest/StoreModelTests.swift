import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStore

/// The scripts against the model in random runs. A failure names its seed; the same run again:
/// `DARKROOM_MODEL_SEED=<seed> DARKROOM_MODEL_STEPS=<steps> swift test --filter StoreModelTests`.
@Suite(.redisServer) struct StoreModelTests {
    @Test func everyStepLeavesWhatTheModelForetells() throws {
        let environment = ProcessInfo.processInfo.environment
        let steps = environment["DARKROOM_MODEL_STEPS"].flatMap { Int($0) } ?? 5000
        let seed = environment["DARKROOM_MODEL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999_999)
        print("model test: \(steps) steps, seed \(seed)")
        let server = RedisServer.current
        // Every 20,000 steps a namespace of its own, so that a failing run is short enough to repeat.
        for (round, start) in stride(from: 0, to: steps, by: 20_000).enumerated() {
            let store = BatchStore(server.configuration, keys: try Keys(namespace: server.namespace()))
            defer { store.connection.close() }
            do {
                try ModelRun(store, seed: seed + UInt64(round)).run(steps: min(20_000, steps - start))
            } catch let failure as ModelFailure {
                Issue.record("seed \(seed + UInt64(round)), \(failure)")
                return
            }
        }
    }
}
