import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

@testable import DarkroomWorker

/// Tests that several workers are one visitor for a host. Each test runs workers and an HTTP server.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct SharedHostTests {
    /// Workers may have 4 requests under way. After each reply, the server may count the next request before it removes the
    /// previous one. Three workers that do not share the host would have 12.
    private static let mostCounted = 8

    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    private func workers(
        _ count: Int, _ server: HostileServer, _ change: (inout WorkerSetup) -> Void = { _ in }
    ) throws -> [Worker] {
        try darkroom.workers(count) {
            $0.downloadRules.connectionsPerHost = 4
            $0.downloadRules.patience = .seconds(60)
            $0.downloadRules.connectTo = ["photos.example:80:127.0.0.1:\(server.port)"]
            change(&$0)
        }
    }

    /// The number of workers with permits for the host.
    private func holders() throws -> Int {
        let key = darkroom.keys.host("photos.example")
        let fields = try darkroom.store.connection.call(RedisCommand("HGETALL", key)).array?.compactMap(\.string) ?? []
        return stride(from: 0, to: fields.count - 1, by: 2).filter {
            fields[$0].hasPrefix("worker:") && !fields[$0 + 1].hasPrefix("0 ")
        }.count
    }

    @Test func severalWorkersSendAHostNoMoreThanOne() async throws {
        let server = try HostileServer(["/photo": .drip(body: [1, 2, 3], pause: .milliseconds(20))])
        defer { server.stop() }
        try workers(3, server).run { _ in
            let batch = try darkroom.submit(
                (0..<300).map { _ in "http://photos.example/photo" }, darkroom.options { $0.operationSize = 10 })
            try darkroom.wait(batch)
            #expect(server.log.requests["/photo"] == 300)
            #expect(server.log.mostRunning <= Self.mostCounted)
        }
    }

    @Test func laterWorkerGetsItsShareOfAHost() async throws {
        let server = try HostileServer(["/photo": .drip(body: [1, 2, 3], pause: .milliseconds(30))])
        defer { server.stop() }
        try await workers(1, server).run { _ in
            let batch = try darkroom.submit(
                (0..<4000).map { _ in "http://photos.example/photo" }, darkroom.options { $0.operationSize = 10 })
            #expect(await server.wait { $0.running == 4 })
            try workers(2, server).run { _ in
                try waitUntil("all three workers have permits") { try holders() == 3 }
                #expect(server.log.mostRunning <= Self.mostCounted)
                _ = try darkroom.store.perform(darkroom.store.cancel(batch))
                try darkroom.wait(batch)
            }
        }
    }

    /// The first worker has claimed all operations before the other two join.
    @Test func laterWorkersGetOperationsThatWaitForTheirTurn() throws {
        let server = try HostileServer(["/photo": .drip(body: [1, 2, 3], pause: .milliseconds(100))])
        defer { server.stop() }
        try workers(1, server).run { _ in
            let batch = try darkroom.submit(
                (0..<400).map { _ in "http://photos.example/photo" }, darkroom.options { $0.operationSize = 10 })
            try darkroom.wait(batch, "claimed") { $0.operations - $0.operationsEnded == $0.executing }
            try workers(2, server).run { _ in
                // When both have started, all workers have operations until few are left.
                var (longest, executing) = (0, 40)
                var allBusy: Int?
                try waitUntil("few operations are left") {
                    let held = try operationsHeld(of: batch)
                    executing = held.values.reduce(0, +)
                    let requests = server.log.requests["/photo"] ?? 0
                    if held.count == 3 { allBusy = requests }
                    longest = max(longest, requests - (allBusy ?? requests))
                    return executing <= 6
                }
                #expect(allBusy != nil, "the late workers got no operations")
                #expect(longest < 100, "so many of the 400 photos were requested while a worker was idle")
                #expect(server.log.mostRunning <= Self.mostCounted)
                _ = try darkroom.store.perform(darkroom.store.cancel(batch))
                try darkroom.wait(batch)
            }
        }
    }

    /// The number of operations that each worker holds.
    private func operationsHeld(of batch: BatchID) throws -> [String: Int] {
        let key = darkroom.keys.executing(batch)
        let holders = try darkroom.store.connection.call(RedisCommand("HVALS", key)).array?.compactMap(\.string) ?? []
        return Dictionary(grouping: holders) { String($0.prefix { $0 != " " }) }.mapValues(\.count)
    }

    @Test func refusalToOneWorkerHoldsAllWorkers() async throws {
        let server = try HostileServer([
            "/photo": .inTurn([.answer(status: 429, headers: ["Retry-After: 2"]), .answer(body: [1])])
        ])
        defer { server.stop() }
        try workers(3, server) { $0.downloadRules.connectionsPerHost = 1 }.run { _ in
            let batch = try darkroom.submit(
                (0..<60).map { _ in "http://photos.example/photo" }, darkroom.options { $0.operationSize = 2 })
            try darkroom.wait(batch)
            let arrivals = server.log.arrivals
            #expect(arrivals.count == 61)
            #expect(arrivals[1] - arrivals[0] >= .seconds(2))
        }
    }

    @Test func workerWithoutPermissionToShareGoesOn() async throws {
        let server = try HostileServer(["/photo": .answer(body: [1])])
        defer { server.stop() }
        let rules = "ACL SETUSER limited on >secret ~* &* +@all -pexpire".split(separator: " ").map(String.init)
        #expect(try darkroom.store.connection.call(RedisCommand(rules)) == .status("OK"))
        var redis = darkroom.redis.configuration
        (redis.user, redis.password) = ("limited", "secret")
        try darkroom.withWorker(redis: redis) {
            $0.downloadRules.connectTo = ["photos.example:80:127.0.0.1:\(server.port)"]
        } run: { _ in
            let batch = try darkroom.submit((0..<20).map { _ in "http://photos.example/photo" }, darkroom.options())
            try darkroom.wait(batch)
            #expect(server.log.requests["/photo"] == 20)
            #expect(darkroom.lines.withLock { $0.filter { $0.contains("hosts are not shared") }.count } == 1)
        }
    }
}
