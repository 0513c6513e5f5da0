import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// Lists that users of `darkroom serve` submit, across kills of the process, and the same facts in both interfaces.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct ServeFeedTests {
    @Test func killedServerContinuesItsFeeds() throws {
        let queue = try Queue()
        let scratch = try ScratchFolder()
        let list = Array((0..<30).map { "http://photos.example/\($0)\n" }.joined().utf8)
        let first = try ServingProgram(queue, scratch: scratch)
        let reply = try first.call(
            "POST", "/batches?output=a&operationSize=1&window=4", headers: ["Content-Type": "text/csv"], body: list)
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any])
        let id = try #require(facts["id"] as? String)
        first.program.send(SIGKILL)
        _ = try first.program.outcome()
        let second = try ServingProgram(queue, scratch: scratch)
        let events = try RawClient(port: second.port)
        events.send(
            "GET /api/v1/batches/\(id)/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(ServingProgram.token)\r\n\r\n"
        )
        // Each report makes room for the next operation.
        var reported = 0
        var claims = 0
        let end = ContinuousClock.now + .seconds(30)
        while reported < 30, .now < end {
            claims += 1
            for operation in try queue.claim(number: claims) {
                reported += 1
                _ = try queue.store.perform(
                    queue.store.report(
                        operation.held, worker: "tester", stateCodes: [UInt8(ascii: "F")], bytesIn: 1, bytesOut: 1,
                        failures: []))
            }
        }
        #expect(reported == 30)
        #expect(events.read(until: "\"sealed\":true", timeout: 20).contains("\"sealed\":true"))
        let batch = try second.object("GET", "/batches/\(id)")
        #expect(batch["photos"] as? Int == 30)
        second.program.send(SIGTERM)
        #expect(try second.program.outcome().status == 0)
    }

    /// The state of a submission at which the server is killed.
    enum Step: CaseIterable {
        case upload, list, record, batch, reply
    }

    /// Whatever the server had done when it was killed: the next server has a whole batch, or nothing of the list, and
    /// the second attempt of the user is either accepted or refused because of the whole batch.
    @Test(arguments: Step.allCases) func killedServerLosesNoList(at step: Step) throws {
        let queue = try Queue()
        let scratch = try ScratchFolder()
        let list = Array((0..<30).map { "http://photos.example/\($0)\n" }.joined().utf8)
        let files = FileManager.default, cache = scratch.path("cache")
        for round in 0..<4 {
            let server = try ServingProgram(queue, scratch: scratch)
            let client = try RawClient(port: server.port)
            let head =
                "POST /api/v1/batches?output=\(round) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/csv\r\n"
                + "Authorization: Bearer \(ServingProgram.token)\r\nContent-Length: \(list.count)\r\n\r\n"
            client.send(Array(head.utf8) + (step == .upload ? list.dropLast() : list))
            // Polls without a pause, so that the server is killed soon after the step.
            func names(_ folder: String) throws -> [String] { try files.contentsOfDirectory(atPath: folder) }
            let end = ContinuousClock.now + .seconds(30)
            func isReached() throws -> Bool {
                switch step {
                case .upload: try names(cache).contains { $0.hasPrefix("upload-") }
                case .list: try !names(cache + "/lists").isEmpty
                case .record: try names(cache + "/lists").contains { $0.hasSuffix(".json") }
                case .batch: try queue.store.batchIDs().count > round
                case .reply: !client.read(until: "201 ", timeout: 30).isEmpty
                }
            }
            // A small list may be fed before a poll sees the step.
            while try !isReached(), try queue.store.batchIDs().count <= round, .now < end {}
            server.program.send(SIGKILL)
            _ = try server.program.outcome()

            let second = try ServingProgram(queue, scratch: scratch)
            // The server removes the record of a list when the list is fed, or refused.
            try waitUntil("no list is kept after \(step)") { try names(cache + "/lists").isEmpty }
            #expect(try names(cache).filter { $0.hasPrefix("upload-") } == [], "\(step)")
            let reply = try second.call(
                "POST", "/batches?output=\(round)", headers: ["Content-Type": "text/csv"], body: list)
            #expect([201, 409].contains(reply.status), "\(step): \(reply.text)")
            try waitUntil("no list is kept after \(step)") { try names(cache + "/lists").isEmpty }
            let batches = try queue.store.facts(of: queue.store.batchIDs())
            #expect(batches.count == round + 1 && batches.allSatisfy { $0.sealed && $0.photos == 30 }, "\(step)")
            second.program.send(SIGTERM)
            let log = try second.program.outcome().standardError
            // The first server kept the list, and its client does not know whether the list is submitted.
            if step == .upload { #expect(log.contains("removed an uploaded list"), "\(log)") }
        }
    }

    /// Workers without `--outputs-under` create no folder, so the server creates those of a submitted list.
    @Test func submittedListNeedsNoOptionOfTheWorker() throws {
        let photos = try PhotoServer(folder: HTTPAPIPageTests.project.appendingPathComponent("Tests/Samples").path)
        defer { photos.stop() }
        let queue = try Queue()
        let server = try ServingProgram(queue)
        let worker = try queue.start("worker", "--allow-private")
        defer { worker.insist(SIGTERM) }
        let query = "/batches?output=new/folder&name=new&originals=new/originals"
        let list = Array((photos.url("flower.jpg") + "\n").utf8)
        #expect(try server.call("POST", query, headers: ["Content-Type": "text/csv"], body: list).status == 201)
        #expect(try queue.run("wait", "new", "--timeout", "60s").status == 0)
        #expect(server.scratch.exists("outputs/new/folder/000000-flower.jpg"))
    }

    /// The folder that the server created is not there for the worker, as on a machine without the share.
    @Test func problemOfASubmittedListNamesTheOption() throws {
        let photos = try PhotoServer(folder: HTTPAPIPageTests.project.appendingPathComponent("Tests/Samples").path)
        defer { photos.stop() }
        let queue = try Queue()
        let server = try ServingProgram(queue)
        let list = Array((photos.url("flower.jpg") + "\n").utf8)
        let reply = try server.call(
            "POST", "/batches?output=new&name=new", headers: ["Content-Type": "text/csv"], body: list)
        #expect(reply.status == 201)
        try FileManager.default.removeItem(atPath: server.scratch.path("outputs/new"))
        let worker = try queue.start("worker", "--allow-private")
        defer { worker.insist(SIGTERM) }
        try worker.waitFor("let this worker create folders in a folder above it")
        let able = try queue.start("worker", "--allow-private", "--outputs-under", server.outputs)
        defer { able.insist(SIGTERM) }
        #expect(try queue.run("wait", "new", "--timeout", "60s").status == 0)
        #expect(server.scratch.exists("outputs/new/000000-flower.jpg"))
    }

    /// Also if nobody uses the server.
    @Test func outagesOfRedisAreLogged() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let server = try ServingProgram(Queue(redis))
        redis.crash()
        try server.program.waitFor("Redis does not answer")
        try redis.restart()
        try server.program.waitFor("Redis answers again")
        server.program.send(SIGTERM)
        let log = try server.program.outcome().standardError
        #expect(log.matches(of: #/Redis (does not answer|answers again)/#).count == 2, "\(log)")
    }

    /// The objects of the HTTP API are the objects that the commands print.
    @Test func factsAreThoseOfTheCommands() throws {
        let queue = try Queue()
        let server = try ServingProgram(queue)
        let id = try queue.submit((0..<6).map { "http://photos.example/\($0)" }) { $0.operationSize = 2 }
        try queue.develop("Fd")
        func same(_ path: String, _ key: String?, _ arguments: String..., leavingOut: [String] = []) throws {
            let printed = try Program(
                arguments + ["--json", "--namespace", queue.namespace], environment: queue.environment
            ).outcome()
            let reply = try JSONSerialization.jsonObject(with: Data(server.call("GET", path).body))
            let own = key.flatMap { (reply as? [String: Any])?[$0] } ?? reply
            #expect(try normalized(own, leavingOut) == normalized(printed.json(), leavingOut), "\(path)")
        }
        try same("/batches/\(id)", nil, "status", "\(id)", leavingOut: ["texts"])
        try same("/batches", "batches", "batches", leavingOut: ["texts"])
        try same("/batches/\(id)/photos", "photos", "photos", "\(id)", leavingOut: ["files", "name", "url"])
        try same("/batches/\(id)/operations", "operations", "operations", "\(id)")
        try same("/status", nil, "status")
        try same("/workers", "workers", "workers")
    }

    /// The text of a JSON value with sorted keys, without some members.
    private func normalized(_ value: Any, _ leavingOut: [String]) throws -> String {
        func reduced(_ value: Any) -> Any {
            if let array = value as? [Any] { return array.map(reduced) }
            guard let object = value as? [String: Any] else { return value }
            return object.filter { !leavingOut.contains($0.key) }.mapValues(reduced)
        }
        let data = try JSONSerialization.data(withJSONObject: reduced(value), options: [.sortedKeys])
        return String(decoding: data, as: UTF8.self)
    }
}
