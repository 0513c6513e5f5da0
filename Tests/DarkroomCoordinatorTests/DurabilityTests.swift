import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

@Suite(.timeLimit(.minutes(5))) struct DurabilityTests {
    @Test func waitsForTheAppendOnlyFile() throws {
        for (arguments, keepsFile) in [(["--appendonly", "yes"], true), ([], false)] {
            let server = try RedisServer(arguments: arguments)
            defer { server.stop() }
            let store = BatchStore(server.configuration, keys: try Keys())
            _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
            #expect(try Durability(store: store).wait() == keepsFile)
        }
    }

    @Test func waitsForAReplica() throws {
        let port = try RedisServer.freePort()
        let primary = try RedisServer(arguments: ["--repl-diskless-sync-delay", "0"], port: port)
        defer { primary.stop() }
        let replica = try RedisServer(arguments: ["--replicaof", "127.0.0.1", "\(port)"])
        defer { replica.stop() }
        let store = BatchStore(primary.configuration, keys: try Keys())
        let follower = RedisConnection(replica.configuration)
        let deadline = ContinuousClock.now + .seconds(30)
        while try store.connection.call(RedisCommand("INFO", "replication")).string?.contains("state=online") != true {
            try #require(ContinuousClock.now < deadline, "the replica did not come up")
        }
        _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
        _ = try Durability(store: store).wait()
        #expect(try follower.call(RedisCommand("EXISTS", store.keys.batch(BatchID("b")))).int == 1)

        // One that is there and does not follow.
        kill(replica.processIdentifier, SIGSTOP)
        defer { kill(replica.processIdentifier, SIGCONT) }
        _ = try store.perform(store.submit(BatchID("c"), BatchOptions()))
        do {
            _ = try Durability(store: store, patience: .milliseconds(10)).wait()
            Issue.record("a replica that stands still has confirmed")
        } catch let error as CoordinatorError {
            #expect(error.code == .notDurable)
        }
    }

    @Test func warnsWhenFewerReplicasAnswerThanWereAskedFor() throws {
        let port = try RedisServer.freePort()
        let primary = try RedisServer(arguments: ["--repl-diskless-sync-delay", "0"], port: port)
        defer { primary.stop() }
        let store = BatchStore(primary.configuration, keys: try Keys())
        var warnings: [String] = []
        func wait(for replicas: Int?) throws {
            var durability = Durability(store: store, replicas: replicas, patience: .milliseconds(50))
            durability.warn = { warnings.append($0) }
            _ = try durability.wait()
        }
        try wait(for: nil)
        try wait(for: 0)
        #expect(warnings == [])
        try wait(for: 1)
        #expect(warnings.count == 1 && warnings[0].contains("Redis has no replica"))

        let replica = try RedisServer(arguments: ["--replicaof", "127.0.0.1", "\(port)"])
        defer { replica.stop() }
        let deadline = ContinuousClock.now + .seconds(30)
        while try store.connection.call(RedisCommand("INFO", "replication")).string?.contains("state=online") != true {
            try #require(ContinuousClock.now < deadline, "the replica did not come up")
        }
        _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
        warnings = []
        _ = try Durability(store: store, replicas: 1).wait()
        try wait(for: 2)
        #expect(warnings.count == 1 && warnings[0].contains("1 of the 1 replicas"), "\(warnings)")
    }
}
