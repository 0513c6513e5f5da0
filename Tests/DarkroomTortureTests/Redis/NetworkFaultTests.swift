import Darkroom
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// Two workers reach Redis through a proxy that delays, cuts and freezes connections. One worker has a direct
/// connection, and takes over operations whose leases expire.
@Suite(.serialized) struct NetworkFaultTests {
    private let redis: RedisServer
    private let proxy: TCPProxy
    private let cluster: TortureCluster
    private let load: FaultLoad

    init() throws {
        let port = try RedisServer.freePort()
        redis = try RedisServer(port: port)
        proxy = try TCPProxy(to: port)
        cluster = try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: "network", workers: 2,
            workerRedisURL: "redis://127.0.0.1:\(proxy.port)")
        try cluster.startWorker(redisURL: redis.configuration.displayName)
        load = FaultLoad(cluster: cluster, redisURL: "redis://127.0.0.1:\(proxy.port)", photos: 600)
    }

    @Test(arguments: [1, 50]) func workContinuesOverASlowNetwork(milliseconds: Int) throws {
        defer { tearDown() }
        var run = TortureRun("network: \(milliseconds) ms delay", count: 1)
        try make(&run) { random in
            proxy.delay(.zero)
            usleep(UInt32(random.number(in: 0..<200_000)))
            proxy.delay(.milliseconds(milliseconds))
            usleep(UInt32(random.number(in: 0..<800_000)))
        }
    }

    /// During a cut, the proxy closes every connection. At most 0.5 s after the cut, a worker is connected again; at
    /// most 1 s later, it claims or reports.
    @Test func workersRecoverAfterACut() throws {
        defer { tearDown() }
        var run = TortureRun("network: cut", count: 1)
        let longest = run.count > 1 ? 30_000 : 3000
        try make(&run) { random in
            proxy.interrupt()
            usleep(UInt32(random.number(in: 1000..<longest + 1)) * 1000)
            proxy.restore()
        }
    }

    /// Neither side can detect that the connection is broken. A pending request times out after 10 s, an attempt to
    /// connect after 5 s. An idle worker sends a request at least every 3 s.
    @Test func workersRecoverAfterHalfOpenConnections() throws {
        defer { tearDown() }
        var run = TortureRun("network: half-open connections", count: 1)
        let longest = run.count > 1 ? 20_000 : 2000
        try make(&run, within: .seconds(15)) { random in
            proxy.freeze()
            usleep(UInt32(random.number(in: 1000..<longest + 1)) * 1000)
            proxy.thaw()
        }
    }

    private func make(
        _ run: inout TortureRun, within bound: Duration = .seconds(5), fault: (inout SeededGenerator) throws -> Void
    ) throws {
        let workers = try cluster.workerIDs
        let within = run.bound(bound)
        var back = Distribution()
        let traffic = try RedisTraffic(of: redis)
        let outcome = try load.run(&run) { _, random in
            try fault(&random)
            back.add(try traffic.waitForWork(of: workers, since: RedisTraffic.now, within: within))
        }
        run.report([
            ("faults", "\(outcome.faults)"), ("batches, all exact", "\(outcome.batches)"),
            ("photos", "\(outcome.photos)"), ("photos downloaded again", "\(outcome.repeats)"),
            ("operations taken", "\(traffic.recovered)"), ("at work again after the fault", back.text),
        ])
    }

    private func tearDown() {
        for worker in cluster.workers { worker.kill() }
        proxy.close()
        redis.stop()
    }
}
