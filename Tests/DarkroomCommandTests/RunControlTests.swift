import Darkroom
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

/// Tests that control a run from another terminal, and that retry its failed photos.
@Suite(.timeLimit(.minutes(5))) struct RunControlTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    func start(_ list: String, _ more: String...) throws -> Program {
        try FileManager.default.createDirectory(atPath: scratch.path("run"), withIntermediateDirectories: true)
        return try Program(
            ["run", list, "-o", scratch.path("out"), "--allow-private"] + more,
            environment: ["XDG_RUNTIME_DIR": scratch.path("run")])
    }

    func run(_ list: String, _ more: String...) throws -> Program.Outcome {
        try Program(
            ["run", list, "-o", scratch.path("out"), "--allow-private"] + more,
            environment: ["XDG_RUNTIME_DIR": scratch.path("run")]
        ).outcome()
    }

    /// Runs a command on the private Redis of the run.
    func control(_ arguments: String...) throws -> Program.Outcome {
        let url = try String(contentsOfFile: scratch.path("out/.darkroom/redis.url"), encoding: .utf8)
        return try Program(arguments + ["--redis", url.trimmingCharacters(in: .newlines)]).outcome()
    }

    var batch: String { get throws { try scratch.contents("out/manifest")[0] } }

    /// Starts a server of `count` photos, changes its routes with `change`, and writes the list of the photos.
    func serve(_ count: Int, _ change: (inout [String: HostileServer.Route]) -> Void = { _ in }) throws -> (
        server: HostileServer, list: String
    ) {
        var routes: [String: HostileServer.Route] = [:]
        for index in 0..<count { routes["/\(index).jpg"] = .answer(body: RunCommandTests.photo) }
        change(&routes)
        let server = try HostileServer(routes)
        let list = try scratch.write("list.txt", (0..<count).map { server.url("/\($0).jpg\n") }.joined())
        return (server, list)
    }

    @Test func runOfADamagedBatchEndsWithStatus1() async throws {
        let (server, list) = try serve(2) { $0["/1.jpg"] = .held(.answer(body: RunCommandTests.photo)) }
        defer { server.stop() }
        let run = try start(list, "--grace", "0s")
        #expect(await server.wait { log in log.requests.count == 2 })
        let url = try String(contentsOfFile: scratch.path("out/.darkroom/redis.url"), encoding: .utf8)
        let redis = try RedisConfiguration(url: url.trimmingCharacters(in: .newlines))
        let store = BatchStore(redis, keys: try Keys())
        defer { store.connection.close() }
        let id = try #require(BatchID(batch))
        _ = try store.connection.call(RedisCommand("HSET", store.keys.batch(id), "window", "0"))
        let outcome = try run.outcome()
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.standardError.contains("batch \(id) is damaged in Redis (window is \"0\")"), "\(outcome)")
        #expect(!outcome.standardError.contains("interrupted"))
    }

    @Test func cancelledRunEndsWithStatus4() async throws {
        let (server, list) = try serve(5) { routes in
            for index in 1..<5 { routes["/\(index).jpg"] = .held(.answer(body: RunCommandTests.photo)) }
        }
        defer { server.stop() }
        let run = try start(list)
        #expect(await server.wait { log in log.requests.count == 5 })
        #expect(try control("cancel", batch).status == 0)
        let outcome = try run.outcome()
        #expect(outcome.status == 4, "\(outcome)")
        #expect(
            outcome.standardError.contains(
                "batch \(try batch) was cancelled; --again develops all photos again over the same"))
        #expect(outcome.standardOutput.contains("cancelled"))
        #expect(try scratch.contents("run") == [])

        let second = try self.run(list)
        #expect(second.status == 1)
        #expect(second.standardError.contains("was cancelled; give --again"), "\(second.standardError)")
        server.release()
        #expect(try self.run(list, "--again").status == 0)
    }

    @Test func workerOfARunWritesOnlyToItsFolder() async throws {
        let (server, list) = try serve(1) { $0["/0.jpg"] = .held(.answer(body: RunCommandTests.photo)) }
        defer { server.stop() }
        let run = try start(list)
        #expect(await server.wait { log in log.requests.count == 1 })
        // A user with access to the Redis server of the run submits another batch.
        let other = try scratch.write("other.txt", server.url("/0.jpg\n"))
        let submitted = try control("submit", other, "-o", scratch.path("elsewhere"))
        #expect(submitted.status == 0, "\(submitted)")
        let id = try #require(submitted.lines.first)
        try waitUntil("the worker refuses the batch") {
            try control("status", id).standardError.contains("not in a folder to which this worker may write")
        }
        server.release()
        #expect(try run.outcome().status == 0)
        #expect(try scratch.contents("elsewhere") == ["manifest"])
        #expect(try scratch.contents("out").contains { $0.hasSuffix(".jpg") })
    }

    @Test func folderIdentifiesItsRun() async throws {
        let (server, list) = try serve(3) { routes in
            for index in 0..<3 { routes["/\(index).jpg"] = .held(.answer(body: RunCommandTests.photo)) }
        }
        defer { server.stop() }
        let run = try start(list)
        #expect(await server.wait { log in log.requests.count == 3 })
        let folder = scratch.path("out")
        #expect(try Program.run("status", folder).lines.contains("batch\t\(try batch)"))
        #expect(try Program.run("photos", folder).lines.count == 3)
        #expect(try Program.run("suspend", folder, "--filtrations").status == 0)
        let suspended = try Program.run("status", folder).standardError
        #expect(suspended.contains("go on with: darkroom resume \(folder) --filtrations\n"), "\(suspended)")
        let waited = try Program.run("wait", folder, "--timeout", "1ms")
        #expect(waited.standardError.contains("go on with: darkroom resume \(folder) --filtrations\n"), "\(waited)")
        let json = try Program.run("suspend", folder, "--filtrations", "--json").standardOutput
        #expect(json.contains("darkroom resume \(folder) --filtrations"), "\(json)")
        #expect(try Program.run("resume", folder, "--filtrations").standardOutput.contains("go on"))
        #expect(try Program.run("wait", folder, "--timeout", "1ms").status == 124)
        #expect(try Program.run("cancel", folder).status == 0)
        #expect(try run.outcome().status == 4)
        // If Redis has no batch with the name of the folder, the name also works without the path.
        for name in [folder, "out"] {
            let after = try Program(["status", name, "--redis", "redis://127.0.0.1:1"], at: scratch.path("")).outcome()
            #expect(after.status == 1)
            #expect(after.standardError.contains("no run is using it"), "\(after)")
            #expect(after.standardError.contains("to run its failed photos again: darkroom run ... -o "), "\(after)")
        }
    }

    @Test func suspendedRunWaitsAndReportsIt() async throws {
        let (server, list) = try serve(120) { routes in
            routes["/0.jpg"] = .held(.answer(body: RunCommandTests.photo))
        }
        defer { server.stop() }
        let run = try start(list, "--downloads", "1")
        #expect(await server.wait { log in log.requests.count == 1 })
        #expect(try control("suspend", batch).status == 0)
        server.release()
        try run.waitFor("it is suspended; go on with: darkroom resume \(scratch.path("out"))\n")
        #expect(try control("resume", batch).status == 0)
        let outcome = try run.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput.contains("120 photos: 120 filtered"))
    }

    @Test func retryRunsTheFailedPhotosOnceMore() throws {
        let (server, list) = try serve(60)
        defer { server.stop() }
        // Some URLs have a port without a server.
        let urls = (0..<60).map { $0 % 20 == 7 ? "http://127.0.0.1:1/\($0).jpg\n" : server.url("/\($0).jpg\n") }
        _ = try scratch.write("list.txt", urls.joined())
        let first = try run(list, "--retries", "0", "--patience", "0s")
        #expect(first.status == 3, "\(first)")
        let again = try run(list, "--retries", "0", "--patience", "0s")
        #expect(
            again.standardOutput.contains("(--retry runs the failed photos again, --again develops all photos again)"))

        let port = server.url("").split(separator: ":").last ?? ""
        let second = try run(list, "--retry", "--connect-to", "127.0.0.1:1:127.0.0.1:\(port)")
        #expect(second.status == 0, "\(second)")
        #expect(second.standardError.contains("3 failed photos run again"))
        #expect(second.standardOutput.contains("60 photos: 60 filtered"))
        #expect(!second.standardOutput.contains("nothing to do"))
        let requests = server.log.requests
        for index in 0..<60 { #expect(requests["/\(index).jpg"] == 1, "photo \(index)") }

        let third = try run(list, "--retry")
        #expect(third.status == 0)
        #expect(third.standardError.contains("no photo has failed: there is nothing to run again"))
        #expect(
            third.standardOutput.contains(
                "nothing to do, an earlier run has finished this list (--again develops all photos again)"))
    }

    @Test func retryAtTheEndOfAFreshRun() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\nNO URL\n")
        let outcome = try run(list, "--retry")
        #expect(outcome.status == 3, "\(outcome)")
        #expect(outcome.standardError.contains("2 failed photos run again"))
        #expect(outcome.standardOutput.contains("2 photos: 0 filtered, 2 failed"))
    }

    @Test func originalsArePartOfTheIdentity() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        #expect(try run(list).status == 3)
        let originals = scratch.path("originals")
        let other = try run(list, "--originals", originals)
        #expect(other.status == 1)
        #expect(other.standardError.contains("the originals then not kept, now \(originals)"), "\(other.standardError)")
        #expect(try run(list, "--originals", originals, "--again").status == 3)
        #expect(scratch.exists("originals"))
        #expect(try run(list, "--originals", originals + "/.").standardOutput.contains("nothing to do"))
    }
}
