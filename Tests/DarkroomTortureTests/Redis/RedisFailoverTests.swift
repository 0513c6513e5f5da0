import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// The replicas miss the last writes of the master. Then the master is killed or suspended, and the sentinels promote a
/// replica.
@Suite(.serialized) struct RedisFailoverTests {
    @Test func workersRecoverAndRepeatLostWork() throws {
        var run = TortureRun("Sentinel failover", count: 1)
        var back = Distribution()
        let bound = run.bound(.seconds(5))
        var faults = 0
        var photos = 0
        var repeats = 0
        while run.goesOn(after: faults) {
            let redis = try RedisSentinels()
            defer { redis.stop() }
            let cluster = try TortureCluster(redisURL: redis.url, namespace: "failover", workers: 3)
            let workers = try cluster.workerIDs
            let load = FaultLoad(cluster: cluster, redisURL: redis.url, photos: 800)
            let outcome = try load.run(&run, atMost: 1) { _, random in
                let master = redis.servers[0]
                try loseReplicas(of: master)
                usleep(UInt32(random.number(in: 0..<1_000_000)))  // the replicas do not get the writes of this time
                let isSilent = faults % 2 == 1
                if isSilent { master.suspend() } else { master.crash() }
                let promotion = try waitForPromotion(redis)
                // The sentinels may promote the other replica if the first promotion takes too long.
                let traffic = try RedisTraffic(of: redis.servers[1], redis.servers[2])
                back.add(try traffic.waitForWork(of: workers, since: promotion, within: bound))
                // The old master acts as a master until the sentinels demote it. No client may connect to it again.
                if isSilent { master.resume() }
            }
            faults += 1
            photos += outcome.photos
            repeats += outcome.repeats
            for words in outcome.said { print("output of submit: \(words)") }
        }
        run.report([
            ("failovers, counts exact and bytes the same after each", "\(faults)"), ("photos", "\(photos)"),
            ("photos downloaded again", "\(repeats)"), ("at work again after the promotion", back.text),
        ])
    }

    /// Closes the connections of the replicas and prevents new connections of replicas. All other connections stay.
    private func loseReplicas(of master: RedisServer) throws {
        let administrator = RedisConnection(master.configuration)
        let replies = administrator.call([
            RedisCommand("CONFIG", "SET", "requirepass", "nobody-knows"),
            RedisCommand("CLIENT", "KILL", "TYPE", "replica"),
        ])
        for reply in replies { _ = try reply.get() }
    }

    private func waitForPromotion(_ redis: RedisSentinels) throws -> Double {
        let deadline = ContinuousClock.now + .seconds(90)
        while try redis.promoted() == nil {
            try #require(ContinuousClock.now < deadline, "no replica was promoted")
            usleep(5000)
        }
        return RedisTraffic.now
    }
}
