import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// `submit --replicas` with real replicas, some of which are stopped by SIGSTOP.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ReplicaTests {
    private let redis: RedisSentinels
    private let queue: Queue
    private let scratch: ScratchFolder

    init() throws {
        redis = try RedisSentinels(replicas: 2, sentinels: 1, patience: .seconds(30))
        queue = try Queue(redis.servers[0])
        scratch = try ScratchFolder()
    }

    private func submit(_ more: String...) throws -> Program.Outcome {
        let list = try scratch.write("list.txt", "http://photos.example/1.jpg\n")
        let arguments = ["submit", list, "--namespace", queue.namespace] + more
        return try Program(arguments, environment: ["DARKROOM_REDIS": redis.url]).outcome()
    }

    @Test func succeedsWithAWarningIfAReplicaDoesNotConfirm() throws {
        defer { redis.stop() }
        let all = try submit("-o", scratch.path("1"), "--replicas", "2")
        #expect(all.status == 0 && !all.standardError.contains("replica"), "\(all)")
        let id = try #require(all.lines.first)
        for server in redis.servers {
            let connection = RedisConnection(server.configuration)
            let sealed = try connection.call(
                RedisCommand("HGET", queue.store.keys.batch(#require(BatchID(id))), "sealed"))
            #expect(sealed.string == "1")
        }

        let stopped = redis.servers[1].processIdentifier
        kill(stopped, SIGSTOP)
        defer { kill(stopped, SIGCONT) }
        let two = try submit("-o", scratch.path("2"), "--replicas", "2", "--json")
        #expect(two.status == 0, "\(two)")
        // After 5 s without a reply, the master does not count the replica as connected.
        let warning = /warning: 2 replicas should have the batch, but Redis has [12] connected, of which 1 confirmed it/
        #expect(try warning.firstMatch(in: two.standardError) != nil, "\(two)")
        #expect((try two.json() as? [String: Any])?["photos"] as? Int == 1)
        // By default one replica is enough. `--resume` also accepts `--replicas`.
        for more in [["--resume", id, "--replicas", "1"], ["--resume", id], ["--resume", id, "--replicas", "0"]] {
            let outcome = try Program(
                ["submit", scratch.path("list.txt"), "--namespace", queue.namespace] + more,
                environment: ["DARKROOM_REDIS": redis.url]
            ).outcome()
            #expect(outcome.status == 0 && !outcome.standardError.contains("replica"), "\(outcome)")
        }
    }

    @Test func warnsIfFewerReplicasAreConnected() throws {
        defer { redis.stop() }
        let outcome = try submit("-o", scratch.path("1"), "--replicas", "3")
        #expect(outcome.status == 0)
        #expect(
            outcome.standardError.contains("3 replicas should have the batch, but Redis has 2 connected, of which 2"))
    }

    @Test func controlsReturnOnceAReplicaHasTheChange() throws {
        defer { redis.stop() }
        let id = try #require(try submit("-o", scratch.path("out")).lines.first)
        func start(_ arguments: [String]) throws -> Program {
            try Program(
                arguments + ["--namespace", queue.namespace], environment: ["DARKROOM_REDIS": redis.url])
        }
        func isSuspended(_ server: RedisServer) throws -> Bool {
            let key = queue.store.keys.control
            return try RedisConnection(server.configuration).call(RedisCommand("HGET", key, "suspended")).string == "1"
        }
        // The master must keep the stopped replicas connected until the end of the test.
        let master = RedisConnection(redis.servers[0].configuration)
        _ = try master.call(RedisCommand("CONFIG", "SET", "repl-timeout", "60"))
        let stopped = redis.servers.dropFirst().map(\.processIdentifier)
        for replica in stopped { kill(replica, SIGSTOP) }
        defer { for replica in stopped { kill(replica, SIGCONT) } }
        let waiting = try start(["suspend", "--all"])
        try waitUntil("the master is changed") { try isSuspended(redis.servers[0]) }
        try waitUntil("the command waits") {
            try master.call(RedisCommand("INFO", "clients")).string?.contains("blocked_clients:1") == true
        }
        #expect(!waiting.ends(within: .zero), "the command ended although a failover would undo the change")
        for replica in stopped { kill(replica, SIGCONT) }
        let outcome = try waiting.outcome()
        #expect(outcome.status == 0 && !outcome.standardError.contains("replica"), "\(outcome)")
        #expect(try redis.servers.dropFirst().contains { try isSuspended($0) })

        for replica in stopped { kill(replica, SIGSTOP) }
        for arguments in [["resume", "--all"], ["forget", id, "--force"]] {
            let lacking = try start(arguments).outcome()
            #expect(lacking.status == 0, "\(lacking)")
            #expect(lacking.standardError.contains("warning: 1 replica should have this change, but Redis has "))
        }
    }

    @Test func rejectsReplicasOfAPrivateRedisAndNegativeCounts() throws {
        defer { redis.stop() }
        for arguments in [
            ["run", "list", "-o", "out", "--replicas", "1"], ["submit", "l", "-o", "o", "--replicas", "-1"],
        ] {
            let outcome = try Program(arguments).outcome()
            #expect(outcome.status == 2 && outcome.standardError.contains("error: --replicas"), "\(outcome)")
        }
    }
}
