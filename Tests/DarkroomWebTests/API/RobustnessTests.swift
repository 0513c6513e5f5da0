import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// Batches that are forgotten, Redis that is away, lists with cursors, and servers that change nothing.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct RobustnessTests {
    @Test func readOnlyServerRefusesEveryChange() throws {
        let site = try TestSite { $0.isReadOnly = true }
        let id = try "\(site.submit())"
        let before = try controls(of: site)
        for route in WebServer.routes where route.effect == .changes {
            let path = route.pattern.text.replacing("{batch}", with: id).replacing("{index}", with: "0")
            let reply = try site.fetch(
                route.method.rawValue, path, headers: ["Authorization": "Bearer \(TestSite.token)"])
            #expect(reply.status == 403, "\(route.method) \(path)")
            #expect(try JSONValue(reply.body)["code"]?.string == "readOnly", "\(route.method) \(path)")
        }
        // A view moves, but the focus does not follow it.
        let events = try site.events(of: id)
        let text = events.read(until: "event: states")
        let stream = try #require(text.firstMatch(of: #/"id":"([0-9a-f]{32})"/#)).1
        #expect(try site.call("PUT", "/streams/\(stream)/view", #"{"count": 1}"#).status == 204)
        #expect(try site.call("PUT", "/streams/\(stream)/view", #"{"follow": "0-1"}"#).status == 403)
        #expect(try controls(of: site) == before)
        #expect(try site.json("GET", "/batches/\(id)")["focus"] == nil)
    }

    /// The status without the backlog, whose age grows.
    private func controls(of site: TestSite) throws -> [String: JSONValue]? {
        try site.json("GET", "/status").object?.filter { $0.key != "backlog" }
    }

    /// Every route but those that only read is refused by read-only servers.
    @Test func onlyTheseRoutesChangeNothing() {
        let harmless = WebServer.routes.filter { !$0.method.isSafe && $0.effect == .none }
        #expect(harmless.map(\.pattern.text) == ["/api/v1/streams/{stream}/view", "/login"])
    }

    @Test func forgottenBatchEndsItsStreamAndItsReplies() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        let events = try site.events(of: id)
        events.read(until: "event: states")
        #expect(try site.call("DELETE", "/batches/\(id)?force=true").status == 204)
        #expect(events.read(until: "\r\n0\r\n\r\n").contains("event: gone"))
        for path in ["", "/photos", "/photos/0", "/photos/0/file", "/operations", "/events"] {
            #expect(try site.call("GET", "/batches/\(id)\(path)").status == 404, "\(path)")
        }
        for path in ["cancel", "suspend", "resume", "retry"] {
            #expect(try site.call("POST", "/batches/\(id)/\(path)").status == 404, "\(path)")
        }
    }

    @Test func damagedBatchIsAConflict() throws {
        let site = try TestSite()
        let id = try site.submit()
        _ = try site.client.store.connection.call(.init("HSET", site.client.location.keys.batch(id), "photos", "many"))
        #expect(try site.json("GET", "/batches/\(id)")["damage"] != nil)
        #expect(try site.call("GET", "/batches/\(id)/photos").status == 409)
        #expect(try site.call("GET", "/batches/\(id)/photos/0/file").status == 409)
    }

    @Test func errorAboutALongValueIsShort() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        let photos = stride(from: 1000, to: 200_000, by: 2).map(String.init).joined(separator: ",")
        let reply = try site.call("POST", "/batches/\(id)/cancel", #"{"photos": "\#(photos)"}"#)
        #expect(reply.status == 400 && reply.body.count < 5000, "\(reply.status), \(reply.body.count) bytes")
        #expect(reply.text.contains("photosOutsideList") && reply.text.contains("1000"), "\(reply.text.prefix(300))")
    }

    @Test func damagedManifestLeavesTheFactsOfRedis() throws {
        let site = try TestSite()
        let id = try site.submit()
        try site.report(id, files: ["a.jpg", "b.jpg", "c.jpg"], manifest: Array("{\n".utf8))
        #expect(try site.json("GET", "/batches/\(id)/photos/1")["state"]?.string == "filtered")
        #expect(try site.call("GET", "/batches/\(id)/photos/1/file").status == 404)
    }

    @Test func redisAwayIsNotAvailableAndRecovers() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let site = try TestSite(redis)
        let id = try "\(site.submit())"
        let events = try site.events(of: id)
        events.read(until: "event: states")
        redis.terminate()
        let began = ContinuousClock.now
        for (method, path) in [
            ("GET", "/batches"), ("GET", "/status"), ("POST", "/batches/\(id)/suspend"), ("PUT", "/limits"),
        ] {
            let reply = try site.call(method, path, path == "/limits" ? #"{"downloads": 1}"# : nil)
            #expect(reply.status == 503, "\(method) \(path): \(reply.text)")
            #expect(reply.headers["retry-after"] != nil)
        }
        #expect(.now - began < .seconds(20))
        #expect(try site.fetch("GET", "/healthz").status == 200)
        #expect(try site.fetch("GET", "/readyz").status == 503)
        events.read(until: "event: away")
        try redis.restart()
        // The server connects again with the next requests.
        try waitUntil("the server is ready") { try site.fetch("GET", "/readyz").status == 200 }
        #expect(try site.call("GET", "/status").status == 200)
        // The namespace is empty, since this Redis keeps nothing.
        events.read(until: "event: gone")
    }

    // MARK: - Lists with cursors

    @Test func pagesOfBatchesContainEachBatchOnce() throws {
        let site = try TestSite()
        let ids = try (0..<7).map { _ in try "\(site.submit())" }
        var found: [String] = []
        var next: String?
        repeat {
            let page = try site.json("GET", "/batches?limit=3" + (next.map { "&after=\($0)" } ?? ""))
            found += (page["batches"]?.array ?? []).compactMap { $0["id"]?.string }
            next = page["next"]?.string
            // A batch that is submitted after the first page is not on the later pages, and a cursor may be forgotten.
            if let next, found.count == 3 {
                _ = try site.submit()
                try site.call("DELETE", "/batches/\(next)?force=true")
            }
        } while next != nil
        #expect(found == ids.sorted().reversed())
    }

    @Test func textThatIsNoCursorIsRefused() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        for cursor in ["zzz", "0", id + "0", id.uppercased().replacing("-", with: "_")] {
            let reply = try site.call("GET", "/batches?after=\(cursor)")
            #expect(reply.status == 400, "\(cursor): \(reply.text)")
            #expect(try JSONValue(reply.body)["code"]?.string == "invalidParameter")
        }
        #expect(try site.json("GET", "/batches?after=20000101-000000000-0000")["batches"] == .array([]))
    }

    @Test func invalidWordsOfParametersHaveTheSameCode() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        for (parameter, words) in [
            ("state", PhotoFilterQuery.words), ("reason", FailureReason.allCases.map(\.word)),
        ] {
            let reply = try site.call("GET", "/batches/\(id)/photos?\(parameter)=\(words[0])&\(parameter)=nothing")
            #expect(reply.status == 400)
            let problem = try JSONValue(reply.body)
            #expect(problem["code"]?.string == "invalidParameter")
            let detail = "the parameter \"\(parameter)\" is \"nothing\"; it can be " + words.joined(separator: ", ")
            #expect(problem["detail"]?.string == detail)
        }
    }

    /// Other sites add parameters to links to pages.
    @Test func pagesIgnoreUnknownParameters() throws {
        let site = try TestSite()
        let id = try "\(site.submit())"
        for path in ["/?utm_source=mail", "/batches/\(id)?state=new&state=&reason=&name=&unknown=1", "/cluster?x"] {
            let reply = try site.fetch("GET", path, headers: ["Authorization": "Bearer \(TestSite.token)"])
            #expect(reply.status == 200, "\(path): \(reply.text)")
        }
    }

    @Test func pagesOfPhotosAndOperationsContainEachOnce() throws {
        let site = try TestSite()
        let id = try "\(site.submit(photos: 47))"
        var photos: [Int] = []
        var operations: [Int] = []
        var next: Int? = 0
        while let first = next {
            let page = try site.json("GET", "/batches/\(id)/photos?first=\(first)&limit=20")
            photos += (page["photos"]?.array ?? []).compactMap { $0["index"]?.int }
            next = page["next"]?.int
        }
        next = 0
        while let after = next {
            let page = try site.json("GET", "/batches/\(id)/operations?after=\(after)&limit=2")
            operations += (page["operations"]?.array ?? []).compactMap { $0["operation"]?.int }
            next = page["next"]?.int
        }
        #expect(photos == Array(0..<47))
        #expect(operations == [1, 2, 3, 4, 5])
        #expect(try site.json("GET", "/batches/\(id)/photos?first=2147483647")["photos"] == .array([]))
        #expect(try site.json("GET", "/batches/\(id)/operations?after=2147483647")["operations"] == .array([]))
        let found = try site.json("GET", "/batches/\(id)/photos?name=photo%203&limit=4")
        #expect(found["photos"]?.array?.compactMap { $0["index"]?.int } == [3, 30, 31, 32])
        #expect(found["next"]?.int == 33)
    }
}
