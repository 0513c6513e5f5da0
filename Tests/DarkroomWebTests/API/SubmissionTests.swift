import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// Lists that clients submit.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct SubmissionTests {
    private static let list = (0..<3).map { "http://photos.example/\($0).jpg\n" }.joined()

    /// The id of a batch that was submitted.
    private func accepted(_ reply: HTTPReply, at location: SourceLocation = #_sourceLocation) throws -> String {
        try #require(reply.status == 201, "\(reply.text)", sourceLocation: location)
        return try #require(try JSONValue(reply.body)["id"]?.string)
    }

    /// Waits until the list of a batch is fed, and returns the number of its photos.
    private func fed(_ id: String, _ site: TestSite) throws -> Int? {
        try site.wait(for: "\"sealed\":true", of: id)
        return try site.json("GET", "/batches/\(id)")["photos"]?.int
    }

    /// The server must not receive a large list before it refuses it.
    @Test func serverWithoutListsRefusesBeforeTheBody() throws {
        let site = try TestSite { $0.submission = nil }
        let client = try RawClient(port: site.port)
        client.send(
            "POST /api/v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(TestSite.token)\r\n"
                + "Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n")
        #expect(client.read(until: "noSubmission").hasPrefix("HTTP/1.1 403"))
    }

    // MARK: - Forms of a list

    @Test func listIsAPartOfAForm() throws {
        let site = try TestSite()
        var form = Form(
            fields: [("output", "a"), ("name", ""), ("filter", "sepia"), ("filter", "resize=9x9")], list: Self.list)
        form.fileName = "../../<b>\r\n.csv"
        let id = try accepted(site.call("POST", "/batches", headers: form.headers, body: form.bytes))
        #expect(try fed(id, site) == 3)
        #expect(try site.json("GET", "/batches/\(id)")["filters"]?.strings.count == 2)
    }

    @Test(arguments: ["text/csv", "application/octet-stream", ""])
    func listIsTheWholeBody(type: String) throws {
        let site = try TestSite()
        let reply = try site.call(
            "POST", "/batches?output=a%2Fb&filter=none&limit=2", headers: ["Content-Type": type],
            body: Array(Self.list.utf8))
        let id = try accepted(reply)
        #expect(try fed(id, site) == 2)
        #expect(try site.json("GET", "/batches/\(id)")["output"]?.string == site.outputs + "/a/b")
    }

    /// Every form of a list can have fields in the query; unknown ones are refused before the body is received.
    @Test func fieldsAreInTheQueryToo() throws {
        let site = try TestSite()
        let form = Form(fields: [("output", "a")], list: Self.list)
        let id = try accepted(
            site.call("POST", "/batches?name=query&limit=2", headers: form.headers, body: form.bytes))
        #expect(try fed(id, site) == 2)
        #expect(try site.json("GET", "/batches/\(id)")["name"]?.string == "query")
        let client = try RawClient(port: site.port)
        client.send(
            "POST /api/v1/batches?limt=2 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(TestSite.token)\r\n"
                + "Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n")
        let reply = client.read(until: "urlColumn")
        #expect(
            reply.hasPrefix("HTTP/1.1 400") && reply.contains(#"no parameter is called \"limt\"; possible: list, "#))
    }

    @Test(arguments: ["application/json", "application/x-www-form-urlencoded"])
    func listIsAtAnAddress(type: String) throws {
        let site = try TestSite()
        let folder = try ScratchFolder()
        try folder.write("list.csv", Self.list)
        let lists = try PhotoServer(folder: folder.path)
        defer { lists.stop() }
        let url = lists.url("list.csv")
        let body =
            type.contains("json") ? "{\"list\": \"\(url)\", \"output\": \"a\"}" : "list=\(url)&output=a&overwrite=on"
        let id = try accepted(site.call("POST", "/batches", headers: ["Content-Type": type], body: Array(body.utf8)))
        #expect(try fed(id, site) == 3)
    }

    @Test func uploadsAreRemovedWhenTheyAreFed() throws {
        let site = try TestSite()
        let form = Form(fields: [("output", "a")], list: Self.list)
        let id = try accepted(site.call("POST", "/batches", headers: form.headers, body: form.bytes))
        #expect(try fed(id, site) == 3)
        // The batch is sealed shortly before the feed ends.
        try waitUntil("the list is removed") {
            try FileManager.default.contentsOfDirectory(atPath: site.scratch + "/lists").isEmpty
        }
        #expect(try !FileManager.default.contentsOfDirectory(atPath: site.scratch).contains { $0.hasPrefix("upload") })
    }

    // MARK: - Feeding

    /// The reply does not wait until the list is fed, and a server that starts again continues the feed.
    @Test func restartContinuesTheFeed() throws {
        let photos = try PhotoServer(folder: TestSite.samples)
        defer { photos.stop() }
        let list = (0..<24).map { photos.url("flower.jpg") + "?photo=\($0)" }.joined(separator: "\n")
        let form = Form(
            fields: [("output", "a"), ("operationSize", "1"), ("window", "2"), ("sample", "20")], list: list)
        let first = try TestSite()
        let id = try accepted(first.call("POST", "/batches", headers: form.headers, body: form.bytes))
        // Two operations are fed, and no worker develops them.
        #expect(try first.json("GET", "/batches/\(id)")["sealed"] == .bool(false))
        let second = try first.restarted()
        try second.withWorker { try second.wait(for: "\"state\":\"finished\"", of: id) }
        let batch = try second.json("GET", "/batches/\(id)")
        #expect(batch["sealed"] == .bool(true))
        #expect(batch["counts"]?["filtered"]?.int == 20)
    }

    @Test func feedOfAForgottenBatchIsNotContinued() throws {
        let first = try TestSite()
        let form = Form(fields: [("output", "a"), ("operationSize", "1"), ("window", "1")], list: Self.list)
        let id = try accepted(first.call("POST", "/batches", headers: form.headers, body: form.bytes))
        first.stop()
        _ = try first.client.control.forget(try #require(BatchID(id)), unfinished: true)
        let second = try first.restarted()
        #expect(try second.call("GET", "/batches/\(id)").status == 404)
        try waitUntil("the list is removed") {
            try FileManager.default.contentsOfDirectory(atPath: second.scratch + "/lists").isEmpty
        }
    }

    /// Also if there are more of them than lists that are fed at a time.
    @Test func allInterruptedFeedsContinue() throws {
        let photos = try PhotoServer(folder: TestSite.samples)
        defer { photos.stop() }
        let list = (0..<3).map { photos.url("flower.jpg") + "?photo=\($0)" }.joined(separator: "\n")
        var ids: [String] = []
        func submitEight(_ site: TestSite) throws {
            for _ in 0..<8 {
                let form = Form(
                    fields: [("output", "\(ids.count)"), ("operationSize", "1"), ("window", "1")], list: list)
                ids.append(try accepted(site.call("POST", "/batches", headers: form.headers, body: form.bytes)))
            }
        }
        let first = try TestSite()
        try submitEight(first)
        first.stop()
        // The second server does not see the lists of the first.
        let files = FileManager.default, lists = first.scratch + "/lists", kept = first.scratch + "/kept"
        try files.moveItem(atPath: lists, toPath: kept)
        let second = try first.restarted()
        try submitEight(second)
        second.stop()
        for name in try files.contentsOfDirectory(atPath: kept) {
            try files.moveItem(atPath: "\(kept)/\(name)", toPath: "\(lists)/\(name)")
        }
        let third = try second.restarted()
        try third.withWorker {
            for id in ids { try third.wait(for: "\"state\":\"finished\"", of: id) }
        }
    }

    private func submit(_ url: String, to site: TestSite) throws -> String {
        try accepted(site.call("POST", "/batches", #"{"list": "\#(url)", "output": "a"}"#))
    }

    @Test func restartContinuesAListThatIsBeingFetched() async throws {
        let part = HostileServer.Route.stallHalfWay(body: Array(Self.list.utf8), declared: 1_000_000)
        let server = try HostileServer(["/list": .inTurn([part, .answer(body: Array(Self.list.utf8))])])
        defer { server.stop() }
        let first = try TestSite()
        let id = try submit(server.url("/list"), to: first)
        first.stop()
        // The connection is closed after the end of the feed.
        #expect(await server.wait { $0.departures["/list"] == 1 })
        #expect(try fed(id, first.restarted()) == 3)
    }

    @Test func listWhoseServerFailsIsFetchedAgain() throws {
        // The list is so long that the submission is accepted before the list fails.
        let list = Array((0..<30_000).map { "http://photos.example/\($0).jpg\n" }.joined().utf8)
        let part = HostileServer.Route.closeHalfWay(body: list, declared: list.count + 1)
        let server = try HostileServer(["/list": .inTurn([part, .answer(body: list)])])
        defer { server.stop() }
        let site = try TestSite()
        #expect(try fed(submit(server.url("/list"), to: site), site) == 30_000)
        #expect(server.log.requests["/list"] == 2)
    }

    // MARK: - Refused lists

    private func refused(_ site: TestSite, _ fields: [(name: String, value: String)], _ list: String = list) throws
        -> HTTPReply
    {
        let form = Form(fields: fields, list: list)
        return try site.call("POST", "/batches", headers: form.headers, body: form.bytes)
    }

    @Test func uploadThatIsNoListIsRefused() throws {
        let site = try TestSite()
        let photo = try Data(contentsOf: URL(fileURLWithPath: TestSite.samples + "/flower.jpg"))
        for body in [
            Array(photo), Array("\u{0}\u{1}\u{2}".utf8), Array("{\"a\": [1".utf8), Array("<plist".utf8),
            Array("\n\n".utf8),
        ] {
            let reply = try site.call("POST", "/batches?output=a", headers: ["Content-Type": "text/plain"], body: body)
            #expect(reply.status == 400, "\(reply.text)")
            #expect(!reply.text.contains(site.scratch), "the path of the server's folder is told: \(reply.text)")
        }
        #expect(try site.json("GET", "/batches")["batches"] == .array([]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: site.scratch + "/lists") == [])
    }

    @Test func listThatIsMissingOrTwiceIsRefused() throws {
        let site = try TestSite()
        #expect(try site.call("POST", "/batches", #"{"output": "a"}"#).status == 400)
        #expect(try site.call("POST", "/batches").status == 400)
        #expect(try refused(site, [("output", "a"), ("list", "http://photos.example/")]).status == 400)
        #expect(try refused(site, []).status == 400)
    }

    @Test(arguments: [
        "/etc", "../a", "a/../../b", "/", "a\u{0}b", "//etc", "/proc/self/cwd", "~/a/../..", "\u{0}", "..",
    ])
    func foldersOutsideAreRefused(folder: String) throws {
        let site = try TestSite()
        for name in ["output", "originals"] {
            let folders = name == "output" ? [("output", folder)] : [("output", "a"), ("originals", folder)]
            let reply = try refused(site, folders)
            #expect(reply.status == 400, "\(name)=\(folder): \(reply.text)")
        }
        #expect(try refused(site, [("output", site.outputs + "x/a")]).status == 400)
        #expect(try site.json("GET", "/batches")["batches"] == .array([]))
    }

    @Test(arguments: [
        ("resume", "x"), ("redis", "redis://evil.example"), ("recipe", "/etc/passwd"), ("on-finish", "id"),
        ("recursive", "true"),
        ("quality", "500"), ("filter", "sepia; rm"), ("filter", "@/etc/passwd"), ("rendition", "x"),
        ("priority", "urgent"),
        ("afterSuccess", "maybe"), ("after", "no-such-batch"), ("name", "a\u{0}b"), ("operationSize", "0"),
    ])
    func unusableOptionIsRefused(option: (String, String)) throws {
        let site = try TestSite()
        let reply = try refused(site, [("output", "a"), option])
        #expect([400, 404].contains(reply.status), "\(reply.status) \(reply.text)")
        #expect(try site.json("GET", "/batches")["batches"] == .array([]))
    }

    @Test func takenFolderIsRefusedWithTheNameOfTheField() throws {
        let site = try TestSite()
        _ = try accepted(refused(site, [("output", "a")]))
        let reply = try refused(site, [("output", "a")])
        #expect(reply.status == 409)
        #expect(try JSONValue(reply.body)["detail"]?.string?.contains("give \"overwrite\"") == true, "\(reply.text)")
    }

    @Test func nameOfAnUnfinishedBatchIsRefused() throws {
        let site = try TestSite()
        _ = try accepted(refused(site, [("output", "a"), ("name", "twice")]))
        let again = try refused(site, [("output", "b"), ("name", "twice")])
        #expect(again.status == 409, "\(again.text)")
    }

    /// The server fetches no list from this machine or its network, however the address is written.
    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "0x7f000001", "2130706433", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1", "user@127.0.0.1", "%31%32%37.0.0.1", "127.0.0.1.", "LOCALHOST",
    ])
    func privateAddressesOfListsAreRefused(host: String) throws {
        let site = try TestSite(fetchesPrivateLists: false)
        let secrets = try ScratchFolder()
        try secrets.write("list.csv", Self.list)
        let server = try PhotoServer(folder: secrets.path)
        defer { server.stop() }
        for scheme in ["http", "HTTP"] {
            let reply = try site.call(
                "POST", "/batches", "{\"list\": \"\(scheme)://\(host):\(server.port)/list.csv\", \"output\": \"a\"}")
            #expect((400...404).contains(reply.status), "\(reply.status) \(reply.text)")
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        "file:///etc/passwd", "/etc/passwd", "ftp://photos.example/a", "gopher://a", "-", "", "--resume", "data:,a",
    ])
    func otherAddressesOfListsAreRefused(address: String) throws {
        let site = try TestSite()
        let reply = try site.call("POST", "/batches", "{\"list\": \"\(address)\", \"output\": \"a\"}")
        #expect(reply.status == 400, "\(reply.text)")
        #expect(!reply.text.contains("root:"))
    }

    /// A list need not wait for feeds that wait for their windows. Each feed has threads, so their number is limited.
    @Test func manyFeedsWaitForTheirWindows() throws {
        let site = try TestSite()
        for number in 0..<ListFeeds.mostFeeds {
            let fields = [("output", "\(number)"), ("operationSize", "1"), ("window", "1")]
            _ = try accepted(refused(site, fields))
        }
        let reply = try refused(site, [("output", "more")])
        #expect(reply.status == 503)
        #expect(reply.headers["retry-after"] != nil)
    }

    @Test func listsThatAreHeldInMemoryAreLimited() throws {
        let site = try TestSite()
        let document = #"["http://photos.example/1.jpg", "http://photos.example/2.jpg"]"#
        func submit(_ output: String, _ list: String) throws -> HTTPReply {
            try refused(site, [("output", output), ("operationSize", "1"), ("window", "1")], list)
        }
        let batches = try (0..<ListFeeds.mostInMemory).map { try accepted(submit("\($0)", document)) }
        let reply = try submit("more", document)
        #expect(reply.status == 503 && reply.text.contains("or as CSV, JSONL or text"), "\(reply.text)")
        _ = try accepted(submit("text", Self.list))
        // A list that is no longer fed makes room.
        #expect(try site.call("POST", "/batches/\(batches[0])/cancel").status == 200)
        var status = 503
        try waitUntil("there is room for a list") {
            status = try submit("more", document).status
            return status != 503
        }
        #expect(status == 201)
    }

    // MARK: - Forms

    @Test(arguments: [
        "", "x", "------frontier", "------frontier--", "------frontier\r\n\r\n",
        "------frontier\r\nA: b\r\n\r\nc\r\n------frontier--",
        "------frontier\r\nContent-Disposition: form-data; name=\"output\"\r\n\r\na",
        "------frontier\r\nContent-Disposition: form-data; name=\"a\u{0}\"\r\n\r\nb\r\n------frontier--",
    ])
    func damagedFormIsRefused(body: String) throws {
        let site = try TestSite()
        let reply = try site.call(
            "POST", "/batches", headers: ["Content-Type": "multipart/form-data; boundary=----frontier"],
            body: Array(body.utf8))
        #expect(reply.status == 400, "\(reply.text)")
    }

    @Test func largeFormsAreRefused() throws {
        let site = try TestSite { $0.uploadBytes = 3 << 20 }
        let long = String(repeating: "a", count: (1 << 20) + 1)
        #expect(try refused(site, [("output", long)]).status == 400)
        #expect(try refused(site, (0..<300).map { ("filter", "\($0)") } + [("output", "a")]).status == 400)
        #expect(try site.call("POST", "/batches", "{\"output\": \"\(long)\"}").status == 413)
        #expect(try site.call("POST", "/batches", String(repeating: "[", count: 100_000)).status == 400)
        let form = Form(fields: [("output", "a")], list: String(repeating: "http://photos.example/1\n", count: 200_000))
        let reply = try site.call("POST", "/batches", headers: form.headers, body: form.bytes)
        #expect(reply.status == 413)
    }
}
