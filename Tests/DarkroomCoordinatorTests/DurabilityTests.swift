import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

@Suite(.timeLimit(.minutes(5))) struct DurabilityTests {
    /// A master with connected replicas; all of them are online when this returns.
    private func master(replicas count: Int) throws -> (master: RedisServer, replicas: [RedisServer]) {
        let port = try RedisServer.freePort()
        let master = try RedisServer(arguments: ["--repl-diskless-sync-delay", "0"], port: port)
        let replicas = try (0..<count).map { _ in
            try RedisServer(arguments: ["--replicaof", "127.0.0.1", "\(port)"])
        }
        let connection = RedisConnection(master.configuration)
        try waitUntil("the replicas are online") {
            try connection.call(RedisCommand("INFO", "replication")).string?.components(separatedBy: "state=online")
                .count == count + 1
        }
        return (master, replicas)
    }

    private func stopAll(_ servers: [RedisServer]) {
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

    @Test func waitsForAReplicaIfThereIsOne() throws {
        let (master, replicas) = try master(replicas: 1)
        defer { stopAll([master] + replicas) }
        let store = BatchStore(master.configuration, keys: try Keys())
        let replica = RedisConnection(replicas[0].configuration)
        _ = try store.perform(store.submit(BatchID("b"), BatchOptions()))
        #expect(try Durability(store: store).wait().lack == nil)
        #expect(try replica.call(RedisCommand("EXISTS", store.keys.batch(BatchID("b")))).int == 1)

        // The first replica stays connected but receives nothing.
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

    @Test func reportsHowManyReplicasConfirmed() throws {
        let (master, replicas) = try master(replicas: 2)
        defer { stopAll([master] + replicas) }
        let store = BatchStore(master.configuration, keys: try Keys())
        // The default patience is long enough for running replicas, which may still be loading at the first call.
        func lack(_ replicas: Int?, within patience: Duration = .seconds(20)) throws -> ReplicaLack? {
            _ = try store.perform(store.submit(BatchID("\(Int.random(in: 0..<Int.max))")!, BatchOptions()))
            return try Durability(store: store, replicas: replicas, replicaPatience: patience).wait().lack
        }
        #expect(try lack(2) == nil)
        let more = try #require(try lack(3, within: .seconds(6)))
        #expect((more.asked, more.connected, more.confirmed) == (3, 2, 2))
        #expect(
            more.description.contains(
                "3 replicas should have the batch, but Redis has 2 connected, of which 2 confirmed"))

        kill(replicas[1].processIdentifier, SIGSTOP)
        defer { kill(replicas[1].processIdentifier, SIGCONT) }
        let stopped = try #require(try lack(2, within: .seconds(6)))
        #expect((stopped.asked, stopped.connected, stopped.confirmed) == (2, 2, 1))
        #expect(try lack(nil) == nil && lack(1) == nil)
    }

    @Test func reportsThatThereIsNoReplica() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        #expect(try Durability(store: store).wait().lack == nil)
        let lack = try #require(
            try Durability(store: store, replicas: 1, replicaPatience: .milliseconds(50)).wait().lack)
        #expect(lack.description.contains("1 replica should have the batch, but Redis has none"))
    }

    @Test func eachControlReportsThatNoReplicaHasTheChange() throws {
        let (master, replicas) = try master(replicas: 1)
        defer { stopAll([master] + replicas) }
        let store = BatchStore(master.configuration, keys: try Keys())
        let id = BatchID("a")
        for name in ["a", "b"] { _ = try store.perform(store.submit(BatchID(name)!, BatchOptions())) }
        _ = try store.perform(store.feed(id, operation: 1, photos: 1, entry: [1], digest: ""))
        #expect(try Durability(store: store).wait().lack == nil)
        kill(replicas[0].processIdentifier, SIGSTOP)
        defer { kill(replicas[0].processIdentifier, SIGCONT) }

        let lacks = Locked([ReplicaLack]())
        let control = BatchController(store: store, replicaPatience: .milliseconds(20)) { lack in
            lacks.withLock { $0.append(lack) }
        }
        let changes: [(String, (BatchController) throws -> Void)] = [
            ("suspend", { _ = try $0.suspend(id) }), ("resume", { _ = try $0.resume(id) }),
            ("suspend all", { _ = try $0.suspend(nil) }), ("prioritize", { _ = try $0.prioritize(id, .high) }),
            ("focus", { _ = try $0.focus(id, 0...3, only: false) }), ("clear", { try $0.clearFocus(id) }),
            ("limits", { try $0.setLimits(downloads: 3, filtrations: nil) }), ("no limits", { try $0.clearLimits() }),
            ("depend", { try $0.depend(id, on: [BatchID("b")]) }),
            ("remove dependency", { _ = try $0.removeDependency(id, on: [BatchID("b")]) }),
            ("retry", { _ = try $0.retry(id) }),
            ("cancel a photo", { _ = try $0.cancel(PhotoRanges([0...0]), of: id) }),
            ("cancel", { _ = try $0.cancel(id) }), ("cancel all", { _ = try $0.cancelAll() }),
        ]
        for (number, (name, change)) in changes.enumerated() {
            try change(control)
            #expect(lacks.withLock { $0.count } == number + 1, "\(name)")
        }
        #expect(lacks.withLock { $0 }.allSatisfy { $0.subject == .change && $0.confirmed == 0 })
    }

    @Test func stopsWaitingWhenItsCheckThrows() throws {
        struct Stopped: Error {}
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        #expect(throws: Stopped.self) {
            try Durability(store: store, replicas: 1, replicaPatience: .seconds(3600)) { throw Stopped() }.wait()
        }
    }
}
