import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// The OpenAPI document describes the routes and their real replies.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct APIReplyTests {
    /// Requests of each operation, with real photos of a real worker; then every status of success has occurred.
    @Test func everyOperationRepliesAsDescribed() throws {
        let site = try TestSite()
        let photos = try PhotoServer(folder: TestFiles.samples)
        defer { photos.stop() }
        try site.withWorker {
            let done = try developed(site, photos)
            try readsFiles(of: done, site)
            try readsLists(of: done, site)
            try changesBatches(of: done, site)
            try changesTheCluster(site)
            try followsABatch(site)
            #expect(try site.call("DELETE", "/batches/\(done)?force=true").status == 204)
            #expect(try site.call("GET", "/batches/\(done)").status == 404)
        }
        let described = TestSite.contract.operations.flatMap { operation in
            operation.statuses.filter { $0 < "400" }.map { "\(operation.name) \($0)" }
        }
        let seen = site.seen.withLock { $0 }
        // The events are read by `followsABatch`, which does not wait for their end.
        #expect(described.filter { !seen.contains($0) } == ["GET /batches/{batch}/events 200"])
    }

    /// Submits seven photos, of which one fails, and waits until they are developed.
    private func developed(_ site: TestSite, _ photos: PhotoServer) throws -> String {
        let names = ["astronaut.jpg", "chelsea.jpg", "moon.png", "flower.jpg", "missing.jpg", "rocket.jpg"]
        let form = Form(
            fields: [
                ("output", "holidays"), ("originals", "kept"), ("name", "holidays"), ("filter", "resize=200x200"),
                ("operationSize", "2"), ("retain", "1h"), ("redactUrls", "true"), ("keepTimes", "true"),
            ], list: names.map { photos.url($0) + "?signature=1" }.joined(separator: "\n"))
        let reply = try site.call("POST", "/batches", headers: form.headers, body: form.bytes)
        #expect(reply.status == 201, "\(reply.text)")
        let id = try #require(try JSONValue(reply.body)["id"]?.string)
        #expect(reply.headers["location"] == "/api/v1/batches/\(id)")
        try site.wait(for: "\"state\":\"finished\"", of: id)
        let batch = try site.json("GET", "/batches/holidays")
        #expect(batch["counts"]?["filtered"]?.int == 5)
        #expect(batch["failures"] == .object(["http-4xx": .int(1)]))
        #expect(batch["texts"]?["state"]?.string == "finished")
        #expect(batch["texts"]?["failures"]?.string == "http-4xx 1")
        #expect(batch["texts"]?["speed"]?.string?.contains("/s, took ") == true)
        #expect(batch["output"]?.string == site.outputs + "/holidays")
        return id
    }

    private func readsFiles(of id: String, _ site: TestSite) throws {
        for path in ["file", "original", "thumbnail?width=100", "original/thumbnail"] {
            let reply = try site.call("GET", "/batches/\(id)/photos/0/\(path)")
            #expect(reply.status == 200)
            #expect(reply.body.starts(with: [0xff, 0xd8, 0xff]))
            let tag = try #require(reply.headers["etag"])
            let again = try site.call("GET", "/batches/\(id)/photos/0/\(path)", headers: ["If-None-Match": tag])
            #expect(again.status == 304)
        }
        let original = try site.call("GET", "/batches/\(id)/photos/1/original?download=1")
        let sample = try Data(contentsOf: URL(fileURLWithPath: TestFiles.samples + "/chelsea.jpg"))
        #expect(original.body == Array(sample))
        #expect(original.headers["content-disposition"]?.hasPrefix("attachment;") == true)
        let png = try site.call("GET", "/batches/\(id)/photos/2/file")
        #expect(png.headers["content-type"] == "image/png")
        let failed = try site.call("GET", "/batches/\(id)/photos/4/file")
        #expect(failed.status == 404)
        #expect(try JSONValue(failed.body)["code"]?.string == "noFile")
        let missing = try site.call("GET", "/batches/\(id)/photos/4/original")
        let detail = try #require(try JSONValue(missing.body)["detail"]?.string)
        #expect(detail.hasPrefix("the original of photo 4 of batch \(id)") && detail.contains("is missing: "))
        #expect(!detail.contains(site.outputs))
        let photo = try site.json("GET", "/batches/\(id)/photos/0")
        #expect(photo["manifest"]?["width"]?.int == 200)
        #expect(photo["files"]?.strings.count == 1)
        let facts = (photo["facts"]?.array ?? []).map { [$0["name"]?.string ?? "", $0["value"]?.string ?? ""] }
        #expect(facts.first == ["index", "0"])
        #expect(facts.contains { $0[0] == "size" && $0[1].hasPrefix("200 x ") })
    }

    private func readsLists(of id: String, _ site: TestSite) throws {
        let failed = try site.json("GET", "/batches/\(id)/photos?state=failed&reason=http-4xx")
        #expect(failed["photos"]?.array?.map { $0["index"]?.int } == [4])
        #expect(try site.json("GET", "/batches/\(id)/photos?name=MOON")["photos"]?.array?.count == 1)
        #expect(try site.json("GET", "/batches/\(id)/operations")["operations"]?.array?.count == 3)
        #expect(try site.json("GET", "/batches?state=finished")["batches"]?.array?.count == 1)
        try readsHosts(of: id, site)
        for path in [
            "/batches?state=none", "/batches?limit=0", "/batches?after=..%2Fx", "/batches/\(id)/photos?state=gone",
            "/batches/\(id)/photos?reason=x", "/batches/\(id)/photos?first=-1", "/batches/\(id)/operations?limit=1001",
            "/batches/\(id)/photos/0/thumbnail?width=0", "/batches/\(id)/events?count=5001",
        ] {
            let reply = try site.call("GET", path)
            #expect(reply.status == 400, "\(path)")
        }
        for path in [
            "/batches/nothing", "/batches/\(id)/photos/6", "/batches/\(id)/photos/x", "/batches/\(id)/photos/-1",
        ] {
            #expect(try site.call("GET", path).status == 404, "\(path)")
        }
    }

    private func readsHosts(of id: String, _ site: TestSite) throws {
        try waitUntil("the worker has told its hosts") {
            try site.json("GET", "/batches/\(id)/hosts")["hosts"]?.array?.isEmpty == false
        }
        let hosts = try #require(try site.json("GET", "/batches/\(id)/hosts")["hosts"]?.array)
        #expect(hosts.map { $0["host"]?.string } == ["127.0.0.1"])
        #expect(hosts.first?["downloaded"]?.int == 5)
        #expect(hosts.first?["failures"] == .object(["http-4xx": .int(1)]))
        #expect(try site.json("GET", "/hosts")["hosts"]?.array?.count == 1)
        #expect(try site.json("GET", "/batches/\(id)")["hosts"]?.array?.count == 1)
        #expect(try site.json("GET", "/status")["hosts"]?.array?.count == 1)
    }

    private func changesBatches(of done: String, _ site: TestSite) throws {
        // Suspended, so that the worker does not take the next batch.
        _ = try site.json("POST", "/suspend")
        let id = try "\(site.submit(photos: 25))"
        let path = "/batches/\(id)"
        #expect(try site.json("POST", "\(path)/priority", #"{"priority": "high"}"#)["priority"]?.string == "high")
        let focused = try site.json("PUT", "\(path)/focus", #"{"photos": "10-19", "only": true}"#)
        #expect(focused["fed"]?.int == 10)
        #expect(focused["focus"]?["only"] == .bool(true))
        #expect(try site.json("DELETE", "\(path)/focus")["focus"] == nil)
        #expect(
            try site.json("POST", "\(path)/suspend", #"{"part": "downloads"}"#)["downloadsSuspended"] == .bool(true))
        #expect(try site.json("POST", "\(path)/resume")["downloadsSuspended"] == .bool(false))
        let some = try site.json("POST", "\(path)/cancel", #"{"photos": "0-4,7"}"#)
        #expect(some["photosCancelled"]?.int == 6)
        #expect(try site.call("DELETE", path).status == 409)
        #expect(
            try site.json("POST", "\(path)/cancel", #"{"reason": "<b>wrong</b>"}"#)["cancelledReason"]?.string
                == "<b>wrong</b>")
        #expect(try site.call("POST", "/batches/\(done)/cancel").status == 409)
        #expect(
            try site.json("POST", "/batches/\(done)/retry", #"{"reason": ["http-4xx", "timeout"]}"#)["retried"]?.int
                == 1)
        #expect(try site.call("DELETE", path, #"{"force": true}"#).status == 204)
        for (method, path, fields) in [
            ("POST", "\(path)/priority", #"{"priority": "urgent"}"#), ("POST", "\(path)/suspend", #"{"part": "all"}"#),
            ("PUT", "\(path)/focus", #"{"photos": "5,9"}"#), ("POST", "\(path)/cancel", #"{"photos": "x"}"#),
            ("POST", "\(path)/retry", #"{"reason": "x"}"#), ("POST", "\(path)/cancel", "[]"),
            ("POST", "\(path)/cancel", "{"),
            ("POST", "\(path)/cancel", #"{"a": 1}"#), ("PUT", "/limits", "{}"),
            ("PUT", "/limits", #"{"downloads": "many"}"#),
            ("PUT", "/limits", #"{"downloads": -1}"#), ("PUT", "/limits", #"{"downloads": [1, 2]}"#),
        ] {
            let reply = try site.call(method, path, fields)
            #expect([400, 404].contains(reply.status), "\(path) \(fields): \(reply.text)")
        }
        let xml = try site.call("PUT", "/limits", headers: ["Content-Type": "text/xml"], body: Array("<a/>".utf8))
        #expect(xml.status == 415)
    }

    private func changesTheCluster(_ site: TestSite) throws {
        #expect(try site.json("PUT", "/limits", #"{"downloads": 4}"#)["downloads"]?.int == 4)
        #expect(try site.json("PUT", "/limits", #"{"filtrations": 2}"#)["downloads"]?.int == 4)
        #expect(try site.json("GET", "/limits")["filtrations"]?.int == 2)
        #expect(try site.json("DELETE", "/limits")["downloads"] == .null)
        #expect(try site.json("GET", "/status")["suspended"] == .bool(true))
        #expect(try site.json("POST", "/resume")["suspended"] == .bool(false))
        let workers = try site.json("GET", "/workers")["workers"]?.array ?? []
        #expect(workers.count == 1)
        #expect(workers.first?["living"] == .bool(true))
        #expect(try site.call("GET", "/openapi.json").status == 200)
        #expect(try site.json("GET", "/backlog")["priorities"]?.array?.isEmpty == false)
        // Samples are taken as photos become final.
        #expect(try site.json("GET", "/history")["samples"]?.array != nil)
    }

    private func followsABatch(_ site: TestSite) throws {
        let id = try "\(site.submit(photos: 25) { $0.output = site.outputs + "/unused" })"
        let events = try site.events(of: id, "?first=5&count=10")
        let first = events.read(until: "event: states")
        #expect(first.hasPrefix("HTTP/1.1 200"))
        let stream = try #require(first.firstMatch(of: #/event: stream\ndata: \{"id":"([0-9a-f]+)"\}/#)).1
        #expect(try site.call("PUT", "/streams/\(stream)/view", #"{"first": 20, "count": 5}"#).status == 204)
        events.read(until: #""first":20"#)
        #expect(try site.call("PUT", "/streams/\(stream)/view", #"{"count": 5001}"#).status == 400)
        #expect(try site.call("PUT", "/streams/\(stream)/view", #"{"follow": "1-2,5"}"#).status == 400)
        #expect(try site.call("PUT", "/streams/none/view", #"{"count": 1}"#).status == 404)
    }

    /// Each event has the data that its schema describes.
    @Test func eventsAreAsDescribed() throws {
        let site = try TestSite()
        let id = try "\(site.submit(photos: 25))"
        let events = try site.events(of: id)
        var text = events.read(until: "event: states")
        let stream = try #require(text.firstMatch(of: #/event: stream\ndata: \{"id":"([0-9a-f]+)"\}/#)).1
        try site.call("PUT", "/streams/\(stream)/view", #"{"first": 0, "count": 25, "follow": "0-9"}"#)
        text += events.read(until: "following\":true}")
        try site.call("DELETE", "/batches/\(id)?force=true")
        text += events.read(until: "event: gone\ndata: {}")
        let checker = TestSite.contract.checker
        let schemas = ["stream": "StreamEvent", "batch": "Batch", "states": "StatesEvent", "follow": "FollowEvent"]
        var found = Set<String>()
        for match in text.matches(of: #/event: ([a-z]+)\ndata: ([^\n]+)/#) {
            found.insert(String(match.1))
            guard let name = schemas[String(match.1)] else {
                #expect(match.1 == "gone" && match.2 == "{}")
                continue
            }
            let schema = try #require(checker.resolve("#/components/schemas/\(name)"))
            #expect(try checker.problems(of: JSONValue(Array(match.2.utf8)), schema) == [])
        }
        #expect(found == ["stream", "batch", "states", "follow", "gone"])
    }
}
