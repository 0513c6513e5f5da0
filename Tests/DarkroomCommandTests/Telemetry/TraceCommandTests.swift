import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// The traces of `worker` and `run`, received by a collector.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct TraceCommandTests {

    /// A span as the collector receives it.
    private struct Span: Decodable {
        struct Attribute: Decodable {
            struct Value: Decodable {
                let stringValue: String?
                let intValue: String?
            }
            let key: String
            let value: Value
        }
        struct Status: Decodable {
            let code: Int
            let message: String
        }
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]?
        let status: Status?

        var began: Int { Int(startTimeUnixNano) ?? -1 }
        var ended: Int { Int(endTimeUnixNano) ?? -1 }
        subscript(key: String) -> String? {
            attributes?.first { $0.key == key }.flatMap { $0.value.stringValue ?? $0.value.intValue }
        }
    }

    private struct Request: Decodable {
        struct Resource: Decodable { let attributes: [Span.Attribute] }
        struct Scope: Decodable { let name: String }
        struct ScopeSpans: Decodable {
            let scope: Scope
            let spans: [Span]
        }
        struct ResourceSpans: Decodable {
            let resource: Resource
            let scopeSpans: [ScopeSpans]
        }
        let resourceSpans: [ResourceSpans]
    }

    private func requests(to collector: HostileServer) throws -> [Request.ResourceSpans] {
        try collector.log.bodies.flatMap { body in
            try JSONDecoder().decode(Request.self, from: Data(body)).resourceSpans
        }
    }

    private func worker(_ queue: Queue, _ environment: [String: String], _ arguments: String...) throws -> Program {
        try Program(
            ["worker", "--allow-private", "--outputs-under", queue.folder, "--namespace", queue.namespace] + arguments,
            environment: queue.environment.merging(environment) { $1 })
    }

    @Test func eachPhotoHasASpanWithItsStepsAsChildren() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        let collector = try HostileServer(["/v1/traces": .answer()])
        defer {
            server.stop()
            collector.stop()
        }
        let before = Int(Date().timeIntervalSince1970 * 1e9) - 1_000_000
        let worker = try worker(
            queue,
            [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(collector.port)",
                "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "OTEL_SERVICE_NAME": "photos",
                "OTEL_RESOURCE_ATTRIBUTES": "zone=eu",
            ])
        let url = server.url("astronaut.jpg")
        let id = try queue.submit([url, server.url("none.jpg"), "NO URL"])
        #expect(try queue.run("wait", "\(id)").status == 3)
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        let after = Int(Date().timeIntervalSince1970 * 1e9) + 1_000_000

        let head = try #require(collector.log.heads.first)
        #expect(head.hasPrefix("POST /v1/traces ") && head.contains("Content-Type: application/json"))
        #expect(head.contains("x-key: a b"))
        let received = try requests(to: collector)
        for one in received {
            let resource = Dictionary(
                uniqueKeysWithValues: one.resource.attributes.map { ($0.key, $0.value.stringValue ?? "") })
            #expect(resource["service.name"] == "photos" && resource["zone"] == "eu")
            #expect(resource["service.version"] == darkroomVersion && resource["service.instance.id"] != nil)
        }
        let spans = received.flatMap(\.scopeSpans).flatMap(\.spans)
        #expect(Set(spans.map(\.spanId)).count == spans.count)
        let roots = spans.filter { $0.parentSpanId == nil }.sorted {
            ($0["darkroom.photo.index"] ?? "") < ($1["darkroom.photo.index"] ?? "")
        }
        #expect(roots.map { $0["darkroom.photo.index"] } == ["0", "1", "2"] && roots.allSatisfy { $0.name == "photo" })
        #expect(Set(roots.map(\.traceId)).count == 3)
        #expect(roots.map { $0["darkroom.photo.result"] } == ["filtered", "failed", "failed"])
        #expect(roots.map { $0["error.type"] } == [nil, "http-4xx", "not-a-url"])
        #expect(roots.map { $0.status?.code } == [nil, 2, 2])
        #expect(roots.map { $0["server.address"] } == ["127.0.0.1", "127.0.0.1", nil])
        #expect(roots.allSatisfy { $0["darkroom.batch.id"] == id.description })
        let facts = try #require(try queue.store.facts(of: id))
        #expect(roots[0]["darkroom.photo.download.bytes"] == "\(facts.bytesIn)")
        #expect(roots[0]["darkroom.photo.output.bytes"] == "\(facts.bytesOut)")
        #expect(!collector.log.bodies.contains { String(decoding: $0, as: UTF8.self).contains("astronaut") })

        for root in roots {
            #expect(before <= root.began && root.ended <= after && root.kind == 1)
            #expect(root.traceId.wholeMatch(of: /[0-9a-f]{32}/) != nil)
            #expect(root.spanId.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            let children = spans.filter { $0.traceId == root.traceId && $0.spanId != root.spanId }
            #expect(children.allSatisfy { $0.parentSpanId == root.spanId })
            #expect(children.allSatisfy { root.began <= $0.began && $0.ended <= root.ended })
            // The steps follow one another.
            #expect(zip(children, children.dropFirst()).allSatisfy { $0.ended <= $1.began })
            #expect(children.allSatisfy { $0.began <= $0.ended } && children.last?.ended == root.ended)
            let names = children.map(\.name)
            switch root["darkroom.photo.index"] {
            case "0": #expect(names == ["wait", "download", "filter", "write", "report"])
            case "1": #expect(names == ["wait", "download", "report"])
            default: #expect(names.last == "report" && !names.contains("filter"))
            }
        }
    }

    @Test func runExportsTracesAndNothingIsSampledByAlwaysOff() throws {
        let collector = try HostileServer(["/here": .answer()])
        defer { collector.stop() }
        let scratch = try ScratchFolder()
        let list = try scratch.write("list.txt", "file://\(TestFiles.samples)/moon.png\n")
        let endpoint = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:\(collector.port)/here"]
        for sampler in ["always_off", "traceidratio"] {
            let outcome = try Program.run(
                "run", list, "-o", scratch.path + "/\(sampler)", "--filter", "none",
                environment: endpoint.merging(["OTEL_TRACES_SAMPLER": sampler]) { $1 })
            #expect(outcome.status == 0 || outcome.status == 3, "\(outcome.standardError)")
            #expect(collector.log.heads.isEmpty == (sampler == "always_off"))
        }
        let spans = try requests(to: collector).flatMap(\.scopeSpans).flatMap(\.spans)
        #expect(spans.count { $0.name == "photo" } == 1)
    }

    @Test func silentCollectorDelaysNeitherPhotosNorTheEnd() async throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        let collector = try HostileServer(["/v1/traces": .stall])
        defer {
            server.stop()
            collector.stop()
        }
        let worker = try worker(queue, ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(collector.port)"])
        let id = try queue.submit([server.url("astronaut.jpg")])
        #expect(try queue.run("wait", "\(id)").status == 0)
        #expect(await collector.wait { $0.running == 1 }, "no request has arrived")
        // The request is still running while the worker develops further photos.
        let second = try queue.submit((0..<20).map { server.url("astronaut.jpg") + "?photo=\($0)" }) { $0.output = "" }
        #expect(try queue.run("wait", "\(second)", "--timeout", "30s").status == 0)
        let requests = collector.log.requests
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0)
        #expect(collector.log.requests == requests, "the worker sent the other traces after a timeout")
        #expect(outcome.standardError.contains("traces were not exported"))
    }

    @Test func collectorThatRefusesIsReportedAndCounted() throws {
        let queue = try Queue()
        let collector = try HostileServer([:])
        defer { collector.stop() }
        let worker = try worker(
            queue, ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(collector.port)"], "--metrics", "0")
        try queue.submit(["NO URL"])
        let port = try worker.metricsPort()
        // The spans `photo` and `report`, and possibly those of the attempt to download.
        _ = try Scrape.wait(port: port, for: "the dropped spans") {
            ($0["darkroom_spans_dropped_total"] ?? 0) >= 2
        }
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.standardError.contains("traces were not exported") && outcome.standardError.contains("404"))
    }

    @Test func invalidVariablesAreWarnings() throws {
        let queue = try Queue()
        let worker = try worker(
            queue, ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_SAMPLER": "dice"])
        try worker.waitFor("worker started")
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.standardError.contains("OTEL_TRACES_SAMPLER is ignored"))
    }
}
