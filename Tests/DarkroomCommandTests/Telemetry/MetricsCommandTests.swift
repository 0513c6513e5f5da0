import Darkroom
import DarkroomConcurrency
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// `worker --metrics`.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct MetricsCommandTests {

    @Test func countsArePhotosOfTheBatchWhileTheyAreScraped() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let worker = try queue.start("worker", "--metrics", "0", "--allow-private", "--outputs-under", queue.folder)
        let port = try worker.metricsPort()
        let first = try Scrape(port: port)
        for reason in FailureReason.allCases {
            #expect(first["darkroom_photo_failures_total{reason=\"\(reason.word)\"}"] == 0)
        }
        let urls = (0..<30).flatMap { number in
            [
                server.url("astronaut.jpg") + "?photo=\(number)", server.url("none.jpg") + "?photo=\(number)",
                server.url("moon.png") + "?photo=\(number)", "NO URL \(number)",
            ]
        }
        let id = try queue.submit(urls) { $0.operationSize = 7 }
        let all = try Scrape.wait(port: port, for: "all photos") { scrape in
            (scrape["darkroom_photos_total{result=\"filtered\"}"] ?? 0)
                + (scrape["darkroom_photos_total{result=\"failed\"}"] ?? 0) == 120
        }
        let facts = try #require(try queue.store.facts(of: id))
        #expect(facts.counts.filtered == 60 && facts.counts.failed == 60)
        #expect(all["darkroom_photos_total{result=\"filtered\"}"] == 60)
        #expect(all["darkroom_photos_total{result=\"failed\"}"] == 60)
        #expect(all["darkroom_photos_total{result=\"cancelled\"}"] == 0)
        #expect(all["darkroom_photo_failures_total{reason=\"http-4xx\"}"] == 30)
        #expect(all["darkroom_photo_failures_total{reason=\"not-a-url\"}"] == 30)
        #expect(all["darkroom_download_bytes_total"] == Double(facts.bytesIn) && facts.bytesIn > 0)
        #expect(all["darkroom_output_bytes_total"] == Double(facts.bytesOut) && facts.bytesOut > 0)
        #expect(all["darkroom_photo_duration_seconds_count"] == 120)
        for name in ["download", "wait"] {
            let count = try #require(all["darkroom_photo_\(name)_seconds_count"])
            #expect(count >= 90 && count <= 120, "\(name)")
        }
        for name in ["filter", "write"] {
            #expect(all["darkroom_photo_\(name)_seconds_count"] == 60, "\(name)")
            #expect(try #require(all["darkroom_photo_\(name)_seconds_sum"]) > 0)
            #expect(all["darkroom_photo_\(name)_seconds_bucket{le=\"+Inf\"}"] == 60)
        }
        #expect(try #require(all["darkroom_report_seconds_count"]) >= 1)
        #expect(try #require(all["darkroom_redis_round_trip_seconds_count"]) >= 3)
        #expect(all["darkroom_redis_reconnects_total"] == 0 && all["darkroom_leases_lost_total"] == 0)
        #expect(
            all["darkroom_downloads_limit"] == Double(min(1024, 128 * ProcessInfo.processInfo.activeProcessorCount))
                && all["darkroom_spans_dropped_total"] == 0)
        let later = try Scrape.wait(port: port, for: "the host") { $0["darkroom_hosts{state=\"up\"}"] == 1 }
        #expect(later["darkroom_hosts{state=\"down\"}"] == 0)
        #expect(later["darkroom_host_waiting_photos{state=\"up\"}"] == 0)
        #expect(all["darkroom_build_info{version=\"\(darkroomVersion)\"}"] == 1)
        #expect(try #require(all["process_open_fds"]) > 5)
        try Self.check(all, "Metrics")
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    /// `promtool check metrics` finds nothing, and a page of the documentation lists exactly these metrics.
    private static func check(_ scrape: Scrape, _ name: String) throws {
        #expect(try PromTool.findings(in: scrape.text) == "")
        let page = try String(
            contentsOf: TestFiles.package.appendingPathComponent("Sources/Surfaces/Darkroom/Darkroom.docc/\(name).md"),
            encoding: .utf8)
        var listed: [String: String] = [:]
        for line in page.split(separator: "\n") {
            guard let match = line.wholeMatch(of: /\| `([a-z_]+)` \| (counter|gauge|histogram) \|(.*)\| .+ \|/) else {
                continue
            }
            let name = String(match.1)
            #expect(listed[name] == nil, "\(name) is listed twice")
            listed[name] = String(match.2)
            let labels = Set(match.3.split(separator: "`").filter { $0.wholeMatch(of: /[a-z]+/) != nil }.prefix(1))
            for sample in scrape.values.keys where sample.hasPrefix("\(name){") {
                #expect(labels == Set([sample.dropFirst(name.count + 1).prefix { $0 != "=" }]), "\(sample)")
            }
        }
        #expect(listed == scrape.types.filter { name == "Metrics" || !$0.key.hasPrefix("process_") })
    }

    @Test func webServerServesTheMetricsOfItsPage() throws {
        let queue = try Queue()
        let server = try ServingProgram(queue)
        try queue.submit(["http://photos.example/1"])
        let scrape = try Scrape(port: Int(server.port), token: ServingProgram.token)
        #expect(scrape["darkroom_backlog_photos{priority=\"normal\"}"] == 1)
        #expect(scrape["darkroom_cluster_leases_expired_total"] == 0)
        try Self.check(scrape, "WebServer")
    }

    /// A photo that is cancelled after it is final in the worker, and before its report, counts as Redis counts it.
    @Test func cancelledBeforeItsReportIsCountedAsCancelled() throws {
        // The worker reports a second after the file exists. If that was before the cancellation, the test tries again.
        var attempts = 1
        while try !checkCancelledBeforeItsReport() {
            attempts += 1
            try #require(attempts <= 5)
        }
    }

    /// - Returns: whether the photo was cancelled before its report.
    private func checkCancelledBeforeItsReport() throws -> Bool {
        let queue = try Queue()
        let photo = try Data(contentsOf: URL(fileURLWithPath: "\(TestFiles.samples)/flower.jpg"))
        let server = try HostileServer(["/0.jpg": .answer(body: Array(photo)), "/1.jpg": .stall])
        defer { server.stop() }
        let worker = try queue.start("worker", "--metrics", "0", "--allow-private", "--outputs-under", queue.folder)
        defer { worker.insist(SIGTERM) }
        let port = try worker.metricsPort()
        let id = try queue.submit((0...1).map { "http://127.0.0.1:\(server.port)/\($0).jpg" })
        let output = try #require(try queue.store.facts(of: id)).options.output
        try waitUntil("a photo is written") {
            try FileManager.default.fileExists(atPath: output)
                && FileManager.default.contentsOfDirectory(atPath: output).contains { $0.hasSuffix(".jpg") }
        }
        guard try queue.client.control.cancel(PhotoRanges([0...0]), of: id).cancelled == 1 else { return false }
        let scrape = try Scrape.wait(port: port, for: "the cancelled photo") {
            $0["darkroom_photos_total{result=\"cancelled\"}"] == 1
        }
        #expect(scrape["darkroom_photos_total{result=\"filtered\"}"] == 0)
        #expect(scrape["darkroom_photo_duration_seconds_count"] == 0)
        return true
    }

    @Test func readyPageTellsWhetherTheWorkerCanWork() async throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let queue = try Queue(redis)
        let server = try HostileServer(["/stall.jpg": .stallHalfWay(body: [1], declared: 9)])
        defer { server.stop() }
        let worker = try queue.start("worker", "--metrics", "127.0.0.1:0", "--allow-private", "--grace", "10m")
        let port = try worker.metricsPort()
        try waitForReady(port, 200, "ok\n")
        #expect(HTTPGet("/healthz", port: port).body == "ok\n")

        redis.crash()
        try waitForReady(port, 503, "not ready; see the log\n")
        #expect(HTTPGet("/healthz", port: port).status == 200)
        #expect(HTTPGet("/metrics", port: port).status == 200)
        try redis.restart()
        try waitForReady(port, 200, "ok\n")
        _ = try Scrape.wait(port: port, for: "the reconnect") { $0["darkroom_redis_reconnects_total"] == 1 }

        try queue.submit(["http://127.0.0.1:\(server.port)/stall.jpg"])
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        _ = try Scrape.wait(port: port, for: "the download") {
            $0["darkroom_downloads_running"] == 1 && $0["darkroom_operations_held"] == 1
        }
        worker.send(SIGTERM)
        try waitForReady(port, 503, "not ready; see the log\n")
        #expect(HTTPGet("/healthz", port: port).status == 200)
        worker.insist(SIGTERM)
        #expect(try worker.outcome().status == 130)
    }

    private func waitForReady(_ port: Int, _ status: Int, _ text: String) throws {
        try waitUntil("the page is \(status) \(text)") {
            let answer = HTTPGet("/readyz", port: port)
            return answer.status == status && answer.body.hasPrefix(text)
        }
    }

    @Test func countsCancelledPhotosAndLostLeases() async throws {
        let queue = try Queue()
        let names = ["/0.jpg", "/1.jpg", "/2.jpg"]
        let server = try HostileServer(Dictionary(uniqueKeysWithValues: names.map { ($0, .stall) }))
        defer { server.stop() }
        let worker = try queue.start("worker", "--metrics", "0", "--allow-private", "--outputs-under", queue.folder)
        let port = try worker.metricsPort()
        let stalled = names.map { "http://127.0.0.1:\(server.port)\($0)" }
        let first = try queue.submit(stalled)
        #expect(await server.wait { $0.running == 3 }, "the downloads have not started")
        #expect(try queue.run("cancel", "\(first)", "--photos", "0").status == 0)
        _ = try Scrape.wait(port: port, for: "the cancelled photo") {
            $0["darkroom_photos_total{result=\"cancelled\"}"] == 1
        }
        #expect(try queue.run("cancel", "\(first)").status == 0)
        _ = try Scrape.wait(port: port, for: "the cancelled batch") {
            $0["darkroom_photos_total{result=\"cancelled\"}"] == 3 && $0["darkroom_operations_held"] == 0
        }
        let second = try queue.submit([stalled[0]])
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        #expect(try queue.run("forget", "\(second)", "--force").status == 0)
        let last = try Scrape.wait(port: port, for: "the lost lease") { $0["darkroom_leases_lost_total"] == 1 }
        #expect(last["darkroom_photos_total{result=\"cancelled\"}"] == 3)
        #expect(last["darkroom_photo_duration_seconds_count"] == 0)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    @Test func refusesOtherPathsAndMethods() throws {
        let worker = try Queue().start("worker", "--metrics", "0")
        let port = try worker.metricsPort()
        let metrics = HTTPGet("/metrics", port: port)
        #expect(metrics.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
        let head = HTTPGet("/metrics", port: port, method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
        for path in ["/", "/metrics/x", "/debug", "/metrics/..%2f"] {
            let status = HTTPGet(path, port: port).status
            #expect(status == 404 || status == 400, "\(path)")
        }
        let post = HTTPGet("/metrics", port: port, method: "POST")
        #expect(post.status == 405 && post.head.contains("Allow: GET, HEAD"))
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    @Test func addressesThatCannotBeUsedAreErrors() throws {
        let usage = try Program.run("worker", "--metrics", "nonsense:x")
        #expect(usage.status == 2 && usage.standardError.contains("--metrics nonsense:x: not an IP address and a port"))
        let queue = try Queue()
        let worker = try queue.start("worker", "--metrics", "0")
        let port = try worker.metricsPort()
        let second = try queue.run("worker", "--metrics", "\(port)")
        #expect(second.status == 1)
        #expect(second.standardError.contains("cannot listen on 127.0.0.1:\(port)"))
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }
}
