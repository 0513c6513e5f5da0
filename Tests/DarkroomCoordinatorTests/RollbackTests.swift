import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomCoordinator

/// Redis restarts with an older state, like a replica that was promoted before it had received all writes.
@Suite(.timeLimit(.minutes(5))) struct RollbackTests {
    private let server: RedisServer
    private let store: BatchStore

    init() throws {
        server = try RedisServer()
        store = BatchStore(server.configuration, keys: try Keys())
    }

    /// Restarts the server with the state of its last snapshot.
    private func rollBack() throws {
        server.terminate()
        try server.restart()
    }

    /// The names of all photos in Redis, in order.
    private func names(of batch: BatchFacts) throws -> [String] {
        let entries = try store.entries(of: batch.id, operations: Array(1...batch.operations))
        return try entries.flatMap { try OperationEntry.records(of: #require($0), firstIndex: 0).map(\.name) }
    }

    @Test(arguments: [1, 4_000, 19_999, 20_000])
    func lostOperationsAreFedAgain(snapshot: Int) throws {
        defer { server.stop() }
        let notices = Locked<[String]>([])
        let reads = Locked(0)
        let count = 20_000
        let list = SampleList(count: count) { [store] index in
            if index == 0 { reads.withLock { $0 += 1 } }
            guard reads.withLock({ $0 }) == 1 else { return }
            if index == snapshot - 1, index > 0 { _ = try store.connection.call(RedisCommand("SAVE")) }
            if index == count - 1 { try self.rollBack() }
        }
        let coordinator = Coordinator(store: store) { notice in notices.withLock { $0.append("\(notice)") } }
        let batch = try coordinator.submit(list, options: .init()) { [store] _ in
            if snapshot == 1 { _ = try store.connection.call(RedisCommand("SAVE")) }
        }
        #expect(batch.sealed && batch.photos == count && batch.operations == count / 50)
        #expect(try names(of: batch) == (0..<count).map { "photo \($0)" })
        #expect(batch.feedDigest == Coordinator.digest(of: SampleList(count: count), operationSize: 50))
        if snapshot < 19_000 {
            #expect(reads.withLock { $0 } == 2)
            #expect(notices.withLock { $0.contains { $0.contains("Redis has lost operations") } })
        }
    }

    @Test func lostBatchIsSubmittedAgain() throws {
        defer { server.stop() }
        _ = try store.connection.call(RedisCommand("SAVE"))
        let isRolledBack = Locked(false)
        let list = SampleList(count: 5_000) { index in
            guard index == 4_000, !isRolledBack.withLock({ $0 }) else { return }
            isRolledBack.withLock { $0 = true }
            try self.rollBack()
        }
        let batch = try Coordinator(store: store).submit(list, options: .init())
        #expect(batch.sealed && batch.photos == 5_000)
        #expect(try names(of: batch) == (0..<5_000).map { "photo \($0)" })
    }

    @Test func forgottenBatchIsNotSubmittedAgainAfterARestart() throws {
        defer { server.stop() }
        let id = Locked<BatchID?>(nil)
        let isRestarted = Locked(false)
        let isForgotten = Locked(false)
        let list = SampleList(count: 20_000) { [store] index in
            guard let batch = id.withLock({ $0 }) else { return }
            if index == 9_000, !isRestarted.withLock({ $0 }) {
                isRestarted.withLock { $0 = true }
                _ = try store.connection.call(RedisCommand("SAVE"))
                try self.rollBack()
            }
            // Forgets the batch only once. If the coordinator submitted it again, the second feed would succeed.
            if index == 9_500, !isForgotten.withLock({ $0 }) {
                isForgotten.withLock { $0 = true }
                while try store.perform(store.forget(batch, unfinished: true)) == .more {}
            }
        }
        let error = expectError(CoordinatorError.self) {
            _ = try Coordinator(store: store).submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        }
        #expect(error?.code == .batchGone)
        #expect(try store.batchIDs() == [])
    }

    @Test func batchThatLostItsSealIsSealedAgain() throws {
        defer { server.stop() }
        let batch = try Coordinator(store: store).submit(SampleList(count: 120), options: .init())
        #expect(batch.sealed)
        // Returns the batch to its state after the second operation, not sealed.
        let digest = Coordinator.digest(of: SampleList(count: 100), operationSize: 50)
        _ = store.connection.call([
            RedisCommand(
                "HSET", store.keys.batch(batch.id), "operations", "2", "photos", "100", "feed.digest", digest, "sealed",
                "0"),
            RedisCommand("ZREM", store.keys.queue(batch.id), "3"),
        ])
        _ = try store.connection.call(RedisCommand("SAVE"))
        try rollBack()
        #expect(try store.facts(of: batch.id)?.photos == 100)
        let again = try Coordinator(store: store).resume(batch.id, SampleList(count: 120))
        #expect(again.sealed && again.photos == 120 && again.feedDigest == batch.feedDigest)
    }
}

/// Two coordinators that feed one batch.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct TwoCoordinatorsTests {
    private let store: BatchStore

    init() throws {
        let redis = RedisServer.current
        store = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
    }

    /// Feeds a list. When this feed reaches photo 1000, another coordinator feeds and seals the first `others` photos.
    private func feed(_ count: Int, others: Int) throws -> (batch: BatchFacts, notices: [String]) {
        let id = Locked<BatchID?>(nil)
        let notices = Locked<[String]>([])
        let isOvertaken = Locked(false)
        let list = SampleList(count: count) { [store] index in
            guard index == 1000, let batch = id.withLock({ $0 }) else { return }
            guard
                isOvertaken.withLock({ done in
                    defer { done = true }; return !done
                })
            else { return }
            let sealed = try Coordinator(store: store).resume(batch, SampleList(count: others))
            #expect(sealed.sealed && sealed.photos == others)
        }
        let coordinator = Coordinator(store: store) { notice in notices.withLock { $0.append("\(notice)") } }
        let batch = try coordinator.submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        return (batch, notices.withLock { $0 })
    }

    @Test func overtakenCoordinatorFindsTheBatchComplete() throws {
        let (batch, notices) = try feed(10_000, others: 10_000)
        #expect(batch.sealed && batch.photos == 10_000 && batch.operations == 200)
        #expect(notices.contains { $0.contains("another coordinator has fed and sealed the batch; reading") })
        #expect(batch.feedDigest == Coordinator.digest(of: SampleList(count: 10_000), operationSize: 50))
    }

    @Test func shorterListIsRefused() throws {
        do {
            _ = try feed(9_000, others: 10_000)
            Issue.record("a list shorter than the fed photos was accepted")
        } catch let error as CoordinatorError {
            #expect(error.code == .listDiffers, "\(error.description)")
        }
        #expect(try store.facts(of: store.batchIDs()).map(\.photos) == [10_000])
    }

    @Test func longerListContinuesTheBatch() throws {
        let (batch, _) = try feed(10_000, others: 9_010)
        #expect(batch.sealed && batch.photos == 10_000)
        #expect(batch.feedDigest == Coordinator.digest(of: SampleList(count: 10_000), operationSize: 50))
    }

    @Test func heartbeatUpdatesFeederSeenUntilStopped() throws {
        let id = BatchID("b")
        _ = try store.perform(store.submit(id, BatchOptions()))
        _ = try store.connection.call(RedisCommand("HSET", store.keys.batch(id), "feeder.seen", "1"))
        let heartbeat = Coordinator.feederHeartbeat(of: id, in: store, every: .milliseconds(5))
        try waitUntil("the heartbeat is recorded") { try store.facts(of: id)?.feederSeen != 1 }
        heartbeat.stop()
        _ = try store.connection.call(RedisCommand("HSET", store.keys.batch(id), "feeder.seen", "1"))
        #expect(try store.facts(of: id)?.feederSeen == 1)
    }
}
