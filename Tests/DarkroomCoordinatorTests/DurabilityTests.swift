import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

@Suite(.timeLimit(.minutes(5))) struct DurabilityTests {
    /// A master that has followers; each is there and follows when this returns.
    private func master(replicas count: Int) throws -> (master: RedisServer, replicas: [RedisServer]) {
        let port = try RedisServer.freePort()
        let master = try RedisServer(arguments: ["--repl-diskless-sync-delay", "0"], port: port)
        let replicas = try (0..<count).map { _ in
            try RedisServer(arguments: ["--replicaof", "127.0.0.1", "\(port)"])
        }
        let connection = RedisConnection(master.configuration)
        let deadline = ContinuousClock.now + .seconds(30)
        while try connection.call(RedisCommand("INFO", "replication")).string?.components(separatedBy: "state=online")
            .count != count + 1
        {
            try #require(ContinuousClock.now < deadline, "the replicas did not come up")
        }
        return (master, replicas)
    }

    private func stopped(_ servers: [RedisServer]) {
        for server in servers { server.stop() }
    }

    @Test func waitsForTheAppendOnlyFile() throws {
        for (arguments, keepsFile) in [(["--appendonly", "yes"], true), ([], false)] {
            let server = try RedisServer(arguments: arguments)
            defer { server.stop() }
            let store = BatchStore(server.configuration, keys: try Keys())
            _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
            #expect(try Durability(store: store).wait() == .init(keepsFile: keepsFile, lack: nil))
        }
    }

    @Test func waitsForAReplicaWhereThereIsOne() throws {
        let (master, replicas) = try master(replicas: 1)
        defer { stopped([master] + replicas) }
        let store = BatchStore(master.configuration, keys: try Keys())
        let follower = RedisConnection(replicas[0].configuration)
        _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
        #expect(try Durability(store: store).wait().lack == nil)
        #expect(try follower.call(RedisCommand("EXISTS", store.keys.batch(BatchID("b")))).int == 1)

        // One that is there and does not follow.
        kill(replicas[0].processIdentifier, SIGSTOP)
        defer { kill(replicas[0].processIdentifier, SIGCONT) }
        _ = try store.perform(store.submit(BatchID("c"), BatchOptions()))
        func lack(_ replicas: Int?) throws -> ReplicaLack? {
            try Durability(store: store, replicas: replicas, replicaPatience: .milliseconds(50)).wait().lack
        }
        let patience = Duration.milliseconds(50)
        #expect(try lack(nil) == ReplicaLack(asked: 1, connected: 1, confirmed: 0, patience: patience))
        #expect(try lack(0) == nil)
    }

    @Test func tellsHowManyReplicasOfThoseAskedForHaveIt() throws {
        let (master, replicas) = try master(replicas: 2)
        defer { stopped([master] + replicas) }
        let store = BatchStore(master.configuration, keys: try Keys())
        // Long enough for those that follow to confirm; the first time they may still be loading.
        func lack(_ replicas: Int?, within patience: Duration = .seconds(20)) throws -> ReplicaLack? {
            _ = try store.perform(store.submit(BatchID("\(Int.random(in: 0..<Int.max))")!, BatchOptions()))
            return try Durability(store: store, replicas: replicas, replicaPatience: patience).wait().lack
        }
        #expect(try lack(2) == nil)
        let more = try #require(try lack(3, within: .seconds(2)))
        #expect((more.asked, more.connected, more.confirmed) == (3, 2, 2))
        #expect(
            more.description.contains(
                "3 replicas should have the batch, but Redis has 2 connected, of which 2 confirmed"))

        kill(replicas[1].processIdentifier, SIGSTOP)
        defer { kill(replicas[1].processIdentifier, SIGCONT) }
        let stopped = try #require(try lack(2, within: .seconds(2)))
        #expect((stopped.asked, stopped.connected, stopped.confirmed) == (2, 2, 1))
        #expect(try lack(nil) == nil && lack(1) == nil)
    }

    @Test func saysThatThereIsNoReplica() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        #expect(try Durability(store: store).wait().lack == nil)
        let lack = try #require(
            try Durability(store: store, replicas: 1, replicaPatience: .milliseconds(50)).wait().lack)
        #expect(lack.description.contains("1 replica should have the batch, but Redis has none"))
    }

    @Test func stopsWaitingWhenItIsToldTo() throws {
        struct Stopped: Error {}
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        #expect(throws: Stopped.self) {
            try Durability(store: store, replicas: 1, replicaPatience: .seconds(3600)) { throw Stopped() }.wait()
        }
    }
}
