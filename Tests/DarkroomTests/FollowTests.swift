import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Following a batch from its current facts to its end, with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(5)))
struct FollowTests {
    let redis = RedisServer.current
    let client: DarkroomClient

    init() throws {
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
    }

    private func submit(to client: DarkroomClient) async throws -> BatchID {
        let photos = (0..<20).map { (name: "photo \($0)", url: "http://photos.example/\($0).jpg") }
        return try await client.submit(Submission(PhotoList(photos))).id
    }

    /// All remaining updates.
    private func rest(of iterator: inout BatchUpdates.Iterator) async throws -> [BatchUpdate] {
        var updates: [BatchUpdate] = []
        while let update = try await iterator.next() { updates.append(update) }
        return updates
    }

    private func isEnd(_ update: BatchUpdate?) -> Bool {
        if case .facts(let facts)? = update { facts.state == .finished } else { false }
    }

    private func isOutage(_ update: BatchUpdate) -> Bool { if case .disconnected = update { true } else { false } }

    @Test func finishedBatchIsOneUpdate() async throws {
        let id = try await submit(to: client)
        try await client.cancel(id)
        var updates: [BatchUpdate] = []
        for try await update in client.follow(id) { updates.append(update) }
        let facts = try #require(try await client.facts(of: id))
        #expect(updates == [.facts(facts)])
    }

    @Test func beginsAndEndsWithTheFacts() async throws {
        let id = try await submit(to: client)
        var iterator = client.follow(id).makeAsyncIterator()
        let facts = try #require(try await client.facts(of: id))
        #expect(try await iterator.next() == .facts(facts))
        try await client.prioritize(id, .high)
        try await client.cancel(id)
        let updates = try await rest(of: &iterator)
        #expect(isEnd(updates.last), "\(updates)")
        #expect(try await iterator.next() == nil, "the end is final")
    }

    @Test func reportsEventsInTheirOrder() async throws {
        let id = try await submit(to: client)
        var iterator = client.follow(id).makeAsyncIterator()
        _ = try await iterator.next()
        try await client.suspend(id)
        try await client.cancel(id)
        let kinds = try await rest(of: &iterator).compactMap { update in
            if case .event(let event) = update { event.kind } else { nil }
        }
        #expect(kinds.prefix(3) == [.isSuspended(.everything, true), .isCancelled(true), .isFinished(true)])
        #expect(kinds.count == 4, "the last event must be the completion: \(kinds)")
    }

    @Test func findsAnEndDuringALostConnection() async throws {
        let port = try RedisServer.freePort()
        let server = try RedisServer(port: port)
        defer { server.stop() }
        let proxy = try TCPProxy(to: port)
        defer { proxy.close() }
        let direct = DarkroomClient(RedisLocation(server.configuration, try Keys()))
        let client = try DarkroomClient("redis://127.0.0.1:\(proxy.port)")
        let finished = try await submit(to: direct)
        let forgotten = try await submit(to: direct)
        var one = client.follow(finished).makeAsyncIterator()
        var other = client.follow(forgotten).makeAsyncIterator()
        _ = (try await one.next(), try await other.next())
        proxy.interrupt()
        while let update = try await one.next(), !isOutage(update) {}
        while let update = try await other.next(), !isOutage(update) {}
        try await direct.cancel(finished)
        try await direct.forget(forgotten, unfinished: true)
        proxy.restore()
        let updates = try await rest(of: &one)
        #expect(isEnd(updates.last) && !updates.contains(where: isOutage), "\(updates)")
        #expect(try await rest(of: &other) == [.forgotten])
    }

    @Test func reportsUnchangedFactsAfterAnOutage() async throws {
        let port = try RedisServer.freePort()
        let server = try RedisServer(port: port)
        defer { server.stop() }
        let proxy = try TCPProxy(to: port)
        defer { proxy.close() }
        let client = try DarkroomClient("redis://127.0.0.1:\(proxy.port)")
        var iterator = client.follow(try await submit(to: client)).makeAsyncIterator()
        let before = try await iterator.next()
        proxy.interrupt()
        while let update = try await iterator.next(), !isOutage(update) {}
        proxy.restore()
        #expect(try await iterator.next() == before)
    }

    @Test func deniedSubscriptionIsAnError() async throws {
        let id = try await submit(to: client)
        _ = try client.store.connection.call(
            .init("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "resetchannels", "+@all"))
        let url = redis.configuration.displayName.replacingOccurrences(of: "unix://", with: "unix://deaf:secret@")
        let deaf = DarkroomClient(RedisLocation(try RedisLocation(url).redis, client.location.keys))
        var iterator = deaf.follow(id).makeAsyncIterator()
        let error = await expectError(DarkroomError.self) {
            while try await iterator.next() != nil {}
        }
        #expect(error?.code == .redisRefused)
    }

    @Test func continuesAfterARestartOfRedis() async throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let client = DarkroomClient(RedisLocation(server.configuration, try Keys()))
        let id = try await submit(to: client)
        var iterator = client.follow(id).makeAsyncIterator()
        _ = try await iterator.next()
        server.terminate()
        while let update = try await iterator.next(), !isOutage(update) {}
        try server.restart()
        let other = DarkroomClient(RedisLocation(server.configuration, try Keys()))
        try await other.cancel(id)
        #expect(isEnd(try await rest(of: &iterator).last))
    }

    @Test func slowLoopReadsTheFactsAfterMissedEvents() async throws {
        let id = try await submit(to: client)
        var iterator = client.follow(id).makeAsyncIterator()
        _ = try await iterator.next()
        let store = client.store
        _ = try store.perform((0..<1500).map { store.prioritize(id, $0 % 2 == 0 ? .high : .low) })
        try await client.cancel(id)
        let updates = try await rest(of: &iterator)
        #expect(updates.count <= 1001 && isEnd(updates.last))
    }

    @Test func endsWhenTheBatchIsForgotten() async throws {
        let id = try await submit(to: client)
        var iterator = client.follow(id).makeAsyncIterator()
        _ = try await iterator.next()
        try await client.forget(id, unfinished: true)
        #expect(try await rest(of: &iterator).last == .forgotten)
    }

    @Test func missingBatchIsAnError() async throws {
        var iterator = client.follow("nothing").makeAsyncIterator()
        let error = await expectError(DarkroomError.self) { try await iterator.next() }
        #expect(error?.code == .noSuchBatch && error?.attempted == "follow batch nothing")
    }

    @Test func damagedBatchIsAnError() async throws {
        let id = try await submit(to: client)
        _ = try client.store.connection.call(.init("HSET", client.store.keys.batch(id), "photos", "-5"))
        var iterator = client.follow(id).makeAsyncIterator()
        let error = await expectError(DarkroomError.self) { try await iterator.next() }
        #expect(error?.code == .batchDamaged)
    }

    @Test func unreachableRedisAtTheStartIsAnError() async throws {
        var iterator = try DarkroomClient("unix:///nowhere/redis.sock").follow("nothing").makeAsyncIterator()
        let error = await expectError(DarkroomError.self) { try await iterator.next() }
        #expect(error?.code == .redisUnreachable)
    }

    @Test func endsWithItsTask() async throws {
        let id = try await submit(to: client)
        let task = Task { [client] in
            for try await _ in client.follow(id) {}
        }
        try await client.prioritize(id, .high)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
