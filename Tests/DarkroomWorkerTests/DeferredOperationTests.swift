import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Operations whose photos wait long for their next attempt leave their worker. Each test runs workers and an HTTP server.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct DeferredOperationTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    private func configured(
        _ change: @escaping (inout WorkerSetup) -> Void = { _ in }
    ) -> (inout WorkerSetup) -> Void {
        {
            $0.hooks.leastDeferral = .milliseconds(100)
            $0.downloadRules.retries = 2
            $0.hooks.transfer.retryPauses = [.seconds(4)]
            change(&$0)
        }
    }

    @Test func photoIsTriedAgainByAnotherWorker() async throws {
        let server = try HostileServer(["/a": .answer(status: 500), "/b": .answer(status: 404)])
        defer { server.stop() }
        let id = try darkroom.submit(
            [server.url("/a"), server.url("/b")], darkroom.options { $0.operationSize = 2 })
        try darkroom.withWorker(configured()) { _ in
            let deferred = try darkroom.wait(id, "deferred") { $0.deferral != nil && $0.executing == 0 }
            #expect(deferred.counts.new == 1 && deferred.counts.failed == 1)
        }
        let facts = try darkroom.withWorker(configured()) { _ in try darkroom.wait(id) }
        #expect(facts.counts.failed == 2 && facts.deferral == nil)
        #expect(server.log.requests == ["/a": 3, "/b": 1], "the second worker counts the attempt of the first one")
        let line = try #require(try darkroom.manifest(of: id)[0])
        #expect(line.attempts == 3)
        let arrivals = server.log.arrivals
        #expect(arrivals[2] - arrivals[0] >= .seconds(2), "half of the pause is random")
        try darkroom.check(id)
    }

    @Test func otherOperationsRunMeanwhile() async throws {
        let server = try HostileServer([
            "/later": .inTurn([.answer(status: 500), .answer(status: 404)]), "/now": .answer(status: 404),
        ])
        defer { server.stop() }
        let id = try darkroom.submit(
            [server.url("/later")] + (0..<10).map { _ in server.url("/now") },
            darkroom.options { $0.operationSize = 1 })
        let facts = try darkroom.withWorker(configured { $0.hooks.transfer.retryPauses = [.seconds(6)] }) { _ in
            let meanwhile = try darkroom.wait(id, "almost done") { $0.counts.failed >= 10 }
            #expect(meanwhile.counts.failed == 10 && meanwhile.counts.new == 1)
            return try darkroom.wait(id)
        }
        #expect(facts.counts.failed == 11)
        #expect(server.log.requests == ["/later": 2, "/now": 10])
        try darkroom.check(id)
    }

    @Test func waitForALongPauseOfTheHostIsNotSpentInTheWorker() async throws {
        let server = try HostileServer([
            "/a": .inTurn([
                .answer(status: 429, headers: ["Retry-After: 11"]), .answer(status: 404),
            ])
        ])
        defer { server.stop() }
        let id = try darkroom.submit(
            (0..<6).map { _ in server.url("/a") }, darkroom.options { $0.operationSize = 2 })
        let facts = try darkroom.withWorker(
            configured {
                $0.downloadRules.connectionsPerHost = 1
                $0.hooks.leastDeferral = .seconds(1)
                $0.downloadRules.patience = .seconds(60)
            }
        ) { _ in
            try darkroom.wait(id, "deferred") { $0.deferral?.operations == 3 && $0.executing == 0 }
            return try darkroom.wait(id)
        }
        #expect(facts.counts.failed == 6)
        let arrivals = server.log.arrivals
        #expect(arrivals[1] - arrivals[0] >= .seconds(11))
        try darkroom.check(id)
    }

    @Test func cancelReachesDeferredPhotos() async throws {
        let server = try HostileServer(["/a": .answer(status: 500)])
        defer { server.stop() }
        let id = try darkroom.submit([server.url("/a")], darkroom.options())
        let facts = try darkroom.withWorker(configured { $0.hooks.transfer.retryPauses = [.seconds(60)] }) { _ in
            try darkroom.wait(id, "deferred") { $0.deferral != nil && $0.executing == 0 }
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            return try darkroom.wait(id)
        }
        #expect(facts.counts.cancelled == 1 && facts.state == .finished)
    }
}
