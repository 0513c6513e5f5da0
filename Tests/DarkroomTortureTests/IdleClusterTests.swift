import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Measures the load of idle workers on Redis. Real workers run in one process. Each worker has its own connections,
/// and sends the usual heartbeats, claims and releases.
///
/// `DARKROOM_TORTURE_COUNT=800 swift test --filter IdleClusterTests` measures 800 workers, each of which needs about 25
/// open files (`ulimit -n`). By default the test runs a few workers.
@Suite(.serialized) final class IdleClusterTests {
    let redis: RedisServer
    let store: BatchStore
    let workers: [Worker]
    let run: TortureRun

    init() throws {
        let run = TortureRun("idle", count: 20)
        let redis = try RedisServer()
        let keys = try Keys()
        store = BatchStore(redis.configuration, keys: keys)
        var (configuration, hooks) = (PhotoWorkerConfiguration(), WorkerHooks())
        hooks.work = .nothing
        configuration.outputFolders = ["/darkroom-test/nobody-has-this-folder"]
        workers = try (0..<run.count).map { _ in
            try Worker(redis: redis.configuration, keys: keys, configuration: configuration, hooks: hooks)
        }
        self.run = run
        self.redis = redis
    }

    deinit { redis.stop() }

    /// Whether the workers are enough for an exact measurement, which takes longer.
    private var isLarge: Bool { workers.count >= 500 }

    /// The number of scripts that Redis has run since its start, and its CPU time in seconds.
    private func spent() throws -> (scripts: Int, seconds: Double) {
        let text = try store.connection.call(RedisCommand("INFO", "everything")).string ?? ""
        func value(_ name: String) -> String {
            let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }
            return line.map { String($0.dropFirst(name.count).prefix { $0 != "," }) } ?? ""
        }
        let seconds = ["used_cpu_sys:", "used_cpu_user:"].compactMap { Double(value($0)) }.reduce(0, +)
        return (Int(value("cmdstat_evalsha:calls=")) ?? 0, seconds)
    }

    /// Waits `seconds`.
    private func pass(_ seconds: Int) throws {
        for _ in 0..<seconds {
            _ = try store.connection.call(RedisCommand("BLPOP", store.keys.prefix + "nothing", "1"))
        }
    }

    /// The number of scripts per second and worker, and the share of a CPU core that Redis used, over several
    /// heartbeats.
    private func measure() throws -> (scripts: Double, share: Double) {
        let before = try spent()
        let began = ContinuousClock.now
        try pass(isLarge ? 30 : 4)
        let after = try spent()
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        return (
            Double(after.scripts - before.scripts) / seconds / Double(workers.count),
            (after.seconds - before.seconds) / seconds
        )
    }

    /// Waits until every worker refuses the batch.
    private func waitForRefusals() throws {
        for _ in 0..<120 {
            let refused = try store.workers().filter { $0.fields["refused"]?.isEmpty == false }
            if refused.count == workers.count { return }
            try pass(1)
        }
        throw TortureFailure("not every worker refuses the batch within 2 minutes")
    }

    @Test func idleWorkersCauseLittleLoad() throws {
        for worker in workers {
            try worker.start()
            // Spreads the starts over 3 s, so that the heartbeats are not simultaneous.
            if workers.count >= 100 { usleep(3_000_000 / UInt32(workers.count)) }
        }
        defer {
            for worker in workers { worker.leave() }
            for worker in workers { worker.wait() }
        }
        try pass(4)
        let nothing = try measure()
        var options = BatchOptions()
        options.output = "/darkroom-test/elsewhere"
        options.operationSize = 1
        let id = BatchID(submittedAt: try store.time())
        _ = try store.perform(store.submit(id, options))
        let feed = store.feed(id, operation: 1, photos: 1, entry: [1], digest: "")
        #expect(try store.perform(feed) == .fed)
        #expect(try store.perform(store.seal(id, operations: 1, photos: 1)) == .sealed)
        try waitForRefusals()
        try pass(4)
        let refused = try measure()
        // Each worker sends a heartbeat every 3 s, and occasionally a claim.
        for (what, figures) in [("nothing to do", nothing), ("one batch that every worker refuses", refused)] {
            #expect(figures.scripts < 0.6, "\(what): \(figures.scripts) scripts per second and worker")
            if isLarge { #expect(figures.share < 0.05, "\(what): \(figures.share) of a core") }
        }
        func text(_ share: Double) -> String { String(format: "%.1f %%", 100 * share) }
        run.report([
            ("workers", "\(workers.count)"), ("of a core with nothing to do", text(nothing.share)),
            ("of a core with one batch that every worker refuses", text(refused.share)),
        ])
    }
}
