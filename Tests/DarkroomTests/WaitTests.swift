import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Tests waiting for several batches, with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(1)))
struct WaitTests {
    let client: DarkroomClient

    init() throws {
        let redis = RedisServer.current
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
    }

    private func submit() async throws -> BatchID {
        try await client.submit([(name: "photo", url: "http://photos.example/1")], options: BatchOptions()).id
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
        let ids = [try await submit(), try await submit()]
        // A batch that is being forgotten has no facts, but is still listed.
        _ = try client.store.connection.call(
            .init("ZADD", client.store.keys.batches, "1", "20260101-000000000-0000"))
        let task = Task { try await client.waitForAll() }
        try await Task.sleep(for: .milliseconds(100))
        try await client.forget(ids[0], unfinished: true)
        try await client.cancel(ids[1])
        #expect(try await task.value.map(\.id) == [ids[1]])
    }

    @Test func oneThreadServesAllWaits() async throws {
        let ids = [try await submit(), try await submit()]
        let before = try threads()
        let finished = try await withThrowingTaskGroup(of: BatchFacts.self) { group in
            for number in 0..<200 {
                group.addTask { try await client.wait(for: ids[number % 2], timeout: .seconds(40)) }
            }
            try await Task.sleep(for: .milliseconds(300))
            #expect(try threads() < before + 100, "other tests may start threads, too")
            try await client.cancel(ids[0])
            try await client.cancel(ids[1])
            return try await group.reduce(into: 0) { count, facts in count += facts.cancelled ? 1 : 0 }
        }
        #expect(finished == 200)
    }
}
