import DarkroomCoding
import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct WebhookDeliveryTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    private var store: BatchStore { darkroom.store }

    /// Submits a batch without photos, which finishes at once.
    private func finish(_ url: String) throws -> BatchID {
        try darkroom.submit([], darkroom.options { $0.webhook = url })
    }

    private func due() throws -> [DueWebhook] {
        try store.perform(store.heartbeat(worker: nil)).webhooks
    }

    /// The time in ms until the next attempt to call the webhook, or nil if Redis has no webhook of the batch.
    private func next(_ id: BatchID) throws -> Int? {
        let score = try store.connection.call(.init("ZSCORE", darkroom.keys.webhooks, "\(id) 1"))
        return try score.string.flatMap { Int($0) }.map { $0 - (try store.time()) }
    }

    private func delivery(_ hosts: [String], secret: String? = nil) throws -> WebhookDelivery {
        WebhookDelivery(
            store, to: try WebhookHosts(parsing: hosts), secret: secret.map { Array($0.utf8) }, logger: darkroom.logger)
    }

    @Test func workerDeliversTheWebhookOfAFinishedBatch() async throws {
        let server = try HostileServer(["/hook": .answer(status: 202)])
        defer { server.stop() }
        let (worker, id) = try await darkroom.withWorker {
            $0.webhookHosts = ["127.0.0.1:\(server.port)"]
            $0.webhookSecret = Array("open sesame".utf8)
        } run: { worker in
            let id = try darkroom.submit(["NO URL"], darkroom.options { $0.webhook = server.url("/hook") })
            #expect(await server.wait { $0.requests["/hook"] == 1 })
            return (worker, id)
        }
        #expect(try next(id) == nil, "the delivered webhook is still listed")
        darkroom.waitForLog("info test: webhook delivered batch=\(id) worker=\(worker.id) attempt=1 ")

        let head = try #require(server.log.heads.first)
        let body = try #require(server.log.bodies.first)
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
        #expect(head.hasPrefix("POST /hook HTTP/1.1"))
        #expect(header("Content-Type") == "application/json" && header("Darkroom-Event") == "completion")
        #expect(header("Darkroom-Delivery") == "\(id).1")
        let timestamp = try #require(header("Darkroom-Timestamp"))
        #expect(abs(try #require(Int(timestamp)) - (try store.time()) / 1000) < 60)
        let code = HMACSHA256.code(of: Array("\(timestamp).".utf8) + body, secret: Array("open sesame".utf8))
        #expect(header("Darkroom-Signature") == "sha256=\(Hexadecimal.text(code))")

        let json = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(json["event"] as? String == "completion" && json["round"] as? Int == 1)
        let batch = try #require(json["batch"] as? [String: Any])
        #expect(batch["id"] as? String == "\(id)" && batch["state"] as? String == "finished")
        #expect(batch["failures"] as? [String: Int] == ["not-a-url": 1])
        #expect((batch["counts"] as? [String: Int])?["failed"] == 1)
    }

    @Test func sendsNoSignatureWithoutASecret() async throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        _ = try finish(server.url("/hook"))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        delivery.end()
        #expect(!server.log.heads[0].contains("Darkroom-Signature"))
    }

    @Test(arguments: [
        (HostileServer.Route.answer(status: 503), "HTTP status 503"), (.answer(status: 404), "HTTP status 404"),
        (.redirect(to: "/other"), "HTTP status 302"), (.hangUp, "attempt=1"),
        (.raw(Array("no HTTP\r\n\r\n".utf8)), "attempt=1"),
    ])
    func retriesAFailedWebhook(_ route: HostileServer.Route, _ logged: String) throws {
        let server = try HostileServer(["/secret": route, "/other": .answer()])
        defer { server.stop() }
        let id = try finish(server.url("/secret"))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        darkroom.waitForLog("warning test: webhook failed, it is tried again batch=\(id) ")
        delivery.end()
        let lines = darkroom.lines.withLock { $0 }
        #expect(lines.contains { $0.contains(logged) && $0.contains(" pause=5.0 server=http://") }, "\(lines)")
        #expect(!lines.contains { $0.contains("secret") }, "the log shows the URL")
        let wait = try #require(try next(id))
        #expect((1...5000).contains(wait), "the next attempt is \(wait) ms away")
        #expect(try due().isEmpty)
        #expect(server.log.requests["/other"] == nil)
    }

    @Test func limitsThePendingWebhooks() throws {
        let delivery = try delivery(["127.0.0.1:1"])
        let due = (1...WebhookDelivery.maxPending + 1000).compactMap {
            DueWebhook(member: "20261121-090501123-7f3a \($0)", score: 1, url: "http://127.0.0.1:1/")
        }
        #expect(due.count > WebhookDelivery.maxPending)
        delivery.offer(due)
        delivery.stop()
        #expect((1...WebhookDelivery.maxPending).contains(delivery.pending))
        delivery.end()
    }

    @Test func givesUpAfterTwentyAttempts() throws {
        let server = try HostileServer(["/hook": .answer(status: 500)])
        defer { server.stop() }
        let id = try finish(server.url("/hook"))
        _ = try store.connection.call(.init("HSET", darkroom.keys.batch(id), "webhook.attempts", "19"))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        darkroom.waitForLog("error test: webhook given up batch=\(id) attempt=20 ")
        delivery.end()
        #expect(try next(id) == nil)
    }

    @Test func retryIntervalsGrow() {
        let pauses = (1...20).map { WebhookSchedule.pause(after: $0)?.components.seconds }
        #expect(pauses == [5, 25, 120, 600] + Array(repeating: 3600, count: 15) + [nil])
    }

    @Test func onlyTheFirstWorkerDeliversAWebhook() async throws {
        let server = try HostileServer(["/hook": .held(.answer())])
        defer { server.stop() }
        let id = try finish(server.url("/hook"))
        let seen = try due()
        let deliveries = try (0..<5).map { _ in try delivery(["127.0.0.1:\(server.port)"]) }
        for delivery in deliveries { delivery.offer(seen) }
        #expect(await server.wait { $0.running == 1 })
        let hold = try #require(try next(id))
        #expect((50_000...60_000).contains(hold), "the webhook is reserved for \(hold) ms")
        server.release()
        for delivery in deliveries { delivery.end() }
        #expect(server.log.requests == ["/hook": 1])
        #expect(try next(id) == nil)
    }

    @Test func leavesAWebhookOfAnUnlistedHostToOtherWorkers() throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        let id = try finish(server.url("/hook"))
        for hosts in [[], ["127.0.0.1"], ["hooks.example.org"]] {
            let delivery = try delivery(hosts)
            delivery.offer(try due())
            delivery.end()
        }
        #expect(server.log.requests.isEmpty)
        #expect(try #require(try next(id)) <= 0, "the webhook was postponed although no other webhook waits")
        #expect(try store.connection.call(.init("HGET", darkroom.keys.batch(id), "webhook.attempts")).string == "0")
    }

    @Test func webhooksThatNoWorkerMayDeliverDoNotDelayOtherWebhooks() async throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        for number in 0..<200 { _ = try finish("http://nowhere.example/\(number)") }
        _ = try finish(server.url("/hook"))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        let seen = try due()
        #expect(seen.count == 10 && seen.allSatisfy { $0.url.contains("nowhere") })
        delivery.offer(seen)
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        delivery.end()
        #expect(try store.dueWebhooks(atMost: 1000).count == 200, "the webhooks of other workers were postponed")
    }

    @Test func searchReadsOnlyWebhooksDueSinceTheLastSearch() async throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        for number in 0..<100 { _ = try finish("http://nowhere.example/\(number)") }
        let all = try store.dueWebhooks(atMost: 1000)
        let last = try #require(all.last)
        let ofLast = all.count { $0.score == last.score }
        #expect(try store.dueWebhooks(since: last.score, from: ofLast, atMost: 1000).isEmpty)
        let hosts = try WebhookHosts(parsing: ["127.0.0.1:\(server.port)"])
        let delivery = WebhookDelivery(store, to: hosts, secret: nil, searchPause: .zero, logger: darkroom.logger)
        let seen = try due()
        func read() -> Int { delivery.searched }
        func search(_ total: Int) throws {
            for _ in 0..<200 where delivery.searches < total {
                delivery.offer(seen)
                _ = try store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "0.02"))
            }
        }
        try search(3)
        #expect(read() == 100, "every webhook is read once")
        _ = try finish(server.url("/hook"))
        try search(delivery.searches + 2)
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        #expect(read() <= 102)
        delivery.end()
    }

    @Test func unresponsiveServerDoesNotDelayWebhooksOfOtherServers() async throws {
        let silent = try HostileServer(["/hook": .stall])
        let server = try HostileServer(["/hook": .answer()])
        defer { for server in [silent, server] { server.stop() } }
        for _ in 0..<9 { _ = try finish(silent.url("/hook")) }
        _ = try finish(server.url("/hook"))
        let delivery = try delivery(["127.0.0.1:\(silent.port)", "127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        #expect(silent.log.departures["/hook"] == nil, "an attempt had to time out first")
        delivery.end()
    }

    @Test func sendsAtMostFourConcurrentRequestsToAServer() async throws {
        let server = try HostileServer(["/hook": .held(.answer())])
        defer { server.stop() }
        for _ in 0..<6 { _ = try finish(server.url("/hook")) }
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        #expect(await server.wait { $0.running == 4 })
        delivery.offer(try due())
        server.release()
        #expect(await server.wait { $0.requests["/hook"] == 6 }, "the waiting webhooks were not sent")
        delivery.end()
        #expect(server.log.mostRunning == 4)
    }

    @Test func releasesRunningWebhooksWhenItStops() async throws {
        let server = try HostileServer(["/hook": .stall])
        defer { server.stop() }
        let id = try finish(server.url("/hook"))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(try due())
        #expect(await server.wait { $0.running == 1 })
        delivery.end()
        // Otherwise the worker waited for the timeout of the attempt, and another worker would wait for 5 s.
        #expect(!darkroom.lines.withLock { $0.contains { $0.contains("webhook failed") } })
        try waitUntil("another worker may deliver the webhook") { try #require(try next(id)) <= 0 }
    }

    @Test func deliversDueWebhooksBeforeTheWorkerStops() throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        _ = try finish(server.url("/hook"))
        try delivery(["127.0.0.1:\(server.port)"]).end(timeout: .seconds(20))
        #expect(server.log.requests == ["/hook": 1])
    }

    @Test func forgettingABatchRemovesItsWebhook() throws {
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        let id = try finish(server.url("/hook"))
        let seen = try due()
        _ = try store.perform(store.forget(id))
        let delivery = try delivery(["127.0.0.1:\(server.port)"])
        delivery.offer(seen)
        delivery.end()
        #expect(server.log.requests.isEmpty)
        #expect(try next(id) == nil)
    }
}
