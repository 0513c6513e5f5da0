import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Tests waiting for several batches, with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(5)))
struct WaitTests {
    let client: DarkroomClient

    init() throws {
        let redis = RedisServer.current
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
    }

    private func submit(to other: DarkroomClient? = nil) async throws -> BatchID {
        let photos = [(name: "photo", url: "http://photos.example/1")]
        return try await (other ?? client).submit(Submission(PhotoList(photos))).id
    }

    private func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }

    @Test func damagedBatchIsAnErrorAtOnce() async throws {
        let ids = [try await submit(), try await submit()]
        _ = try client.store.connection.call(.init("HSET", client.store.keys.batch(ids[1]), "photos", "-5"))
        let error = await expectError(DarkroomError.self) { try await client.wait(for: ids, timeout: .seconds(20)) }
        #expect(error?.code == .batchDamaged)
    }

    @Test func timeoutNamesTheBatchesInTheGivenOrder() async throws {
        var ids: [BatchID] = []
        for _ in 0..<4 { ids.insert(try await submit(), at: 0) }
        let error = await expectError(DarkroomError.self) {
            try await client.wait(for: ids + ids, timeout: .milliseconds(10))
        }
        let names = ids.map(\.description).joined(separator: ", ")
        #expect(error?.code == .timedOut && error?.message.hasPrefix("batch \(names) has not finished") == true)
    }

    @Test func waitForAllIgnoresForgottenBatches() async throws {
        // The number of readings of this server shows whether the wait has begun.
        let redis = try RedisServer()
        defer { redis.stop() }
        let client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: "test")))
        func listings() throws -> Int {
            let text = try client.store.connection.call(.init("INFO", "commandstats")).string ?? ""
            let calls = text.firstMatch(of: #/cmdstat_zrange:calls=([0-9]+)/#)
            return calls.flatMap { Int($0.1) } ?? 0
        }
        let ids = [try await submit(to: client), try await submit(to: client)]
        // A batch that is being forgotten has no facts, but is still listed.
        _ = try client.store.connection.call(
            .init("ZADD", client.store.keys.batches, "1", "20260101-000000000-0000"))
        let listed = try listings()
        let task = Task { try await client.waitForAll() }
        // A wait that began after the changes would not see the second batch. Redis gives no signal for a reading.
        while try listings() == listed { try await Task.sleep(for: .milliseconds(5)) }
        try await client.forget(ids[0], unfinished: true)
        try await client.cancel(ids[1])
        #expect(try await task.value.map(\.id) == [ids[1]])
    }

    @Test func oneThreadServesAllWaits() async throws {
        let ids = [try await submit(), try await submit()]
        let before = try threads()
        let begun = Locked(0)
        let finished = try await withThrowingTaskGroup(of: BatchFacts.self) { group in
            for number in 0..<200 {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    return try await client.wait(for: ids[number % 2], timeout: .seconds(40))
                }
            }
            while begun.withLock({ $0 }) < 200 { await Task.yield() }
            #expect(try threads() < before + 100, "other tests may start threads, too")
            // The other half still waits when this half has been cancelled.
            try await client.cancel(ids[0])
            var count = 0
            while count < 100, let facts = try await group.next() { count += facts.cancelled ? 1 : 0 }
            #expect(try threads() < before + 100, "other tests may start threads, too")
            try await client.cancel(ids[1])
            return try await group.reduce(into: count) { count, facts in count += facts.cancelled ? 1 : 0 }
        }
        #expect(finished == 200)
    }
}
