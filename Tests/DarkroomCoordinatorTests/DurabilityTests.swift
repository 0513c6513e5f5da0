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
        let primary = try RedisServer(port: 16_391)
        defer { primary.stop() }
        let replica = try RedisServer(arguments: ["--replicaof", "127.0.0.1", "16391"])
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
}
