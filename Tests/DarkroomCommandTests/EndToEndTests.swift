import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// The program as users run it: real lists, real servers, real photos.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct EndToEndTests {
    private static let classicList = TestFiles.fixtures.appendingPathComponent("ClassicPhotosDictionary.plist").path

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func bytes(_ sample: String) throws -> [UInt8] {
        try TestFiles.sample(sample)
    }

    /// The host in the list of the tutorial no longer exists. The test serves photos under the same paths.
    @Test func developsTheListOfTheTutorial() throws {
        let list = try Data(contentsOf: URL(fileURLWithPath: Self.classicList))
        let entries = try #require(
            try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: String])
        let sources = ["astronaut", "chelsea", "china", "coffee", "flower", "grace_hopper", "rocket"]
        for (position, url) in entries.values.compactMap(URL.init(string:)).filter({ $0.host != nil }).enumerated() {
            let path = scratch.path("site" + url.path)
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(bytes(sources[position % sources.count] + ".jpg")).write(to: URL(fileURLWithPath: path))
        }
        let server = try PhotoServer(folder: scratch.path("site"))
        defer { server.stop() }
        let outcome = try Program.run(
            "run", Self.classicList, "-o", scratch.path("out"), "--json", "--allow-private",
            "--connect-to", "www.sxc.hu:80:127.0.0.1:\(server.port)")
        #expect(outcome.status == 3, "\(outcome.standardError)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["photos"] as? Int == 34)
        #expect(facts["failures"] as? [String: Int] == ["not-a-url": 4])
        #expect((facts["counts"] as? [String: Int])?["filtered"] == 30)
        // The keys of a dictionary are unique, so each file name is a key with some characters escaped.
        let names = try scratch.contents("out").filter { $0 != "manifest" }
        let expected = entries.filter { URL(string: $0.value)?.host != nil }.keys.map { name in
            name.replacingOccurrences(of: "&", with: "%26").replacingOccurrences(of: "'", with: "%27") + ".jpg"
        }
        #expect(names == expected.sorted())
        #expect(server.requests.values.allSatisfy { $0 == 1 }, "a photo was downloaded twice")
    }

    /// Failures of servers and files, with the reason of each failure. The batch continues after each failure.
    @Test func everyFailureHasItsReason() throws {
        let photo = try bytes("flower.jpg")
        var damaged = photo
        for position in stride(from: photo.count / 2, to: photo.count - 2, by: 7) { damaged[position] = 0xff }
        // A PNG with 60,000 x 60,000 pixels in its header.
        var huge = try bytes("moon.png")
        huge.replaceSubrange(16..<24, with: [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60])
        let routes: [String: (HostileServer.Route, String?)] = [
            "/good.jpg": (.answer(body: photo), nil),
            "/page.jpg": (
                .answer(headers: ["Content-Type: text/html"], body: Array("<html><body>hello</body></html>".utf8)),
                "not-an-image"
            ),
            "/drawing.svg": (
                .answer(body: Array("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"/>".utf8)),
                "unsupported-format"
            ),
            "/missing.jpg": (.answer(status: 404), "http-4xx"),
            "/broken.jpg": (.answer(status: 500), "http-5xx"),
            "/round.jpg": (.redirect(to: "/round.jpg"), "too-many-redirects"),
            "/silent.jpg": (.stall, "stalled"),
            "/half-silent.jpg": (.stallHalfWay(body: Array(photo.prefix(1000)), declared: photo.count), "stalled"),
            "/half.jpg": (.closeHalfWay(body: Array(photo.prefix(1000)), declared: photo.count), "truncated"),
            "/liar.jpg": (.closeHalfWay(body: photo, declared: photo.count + 10), "truncated"),
            "/endless.jpg": (.endless, "too-large"),
            "/large.jpg": (.answer(body: [UInt8](repeating: 1, count: 3 << 20)), "too-large"),
            "/cut.jpg": (.answer(body: Array(photo.prefix(photo.count / 2))), "damaged"),
            "/damaged.jpg": (.answer(body: damaged), "damaged"),
            "/empty.jpg": (.answer(body: []), "not-an-image"),
            "/huge.png": (.answer(body: huge), "too-many-pixels"),
            "/inside.jpg": (.redirect(to: "ftp://127.0.0.1/photo.jpg"), "scheme-denied"),
        ]
        let server = try HostileServer(routes.mapValues(\.0))
        defer { server.stop() }
        let names = routes.keys.sorted()
        var lines = names.map { "{\"name\":\"\($0)\",\"url\":\"\(server.url($0))\"}\n" }
        lines.append("{\"name\":\"nobody\",\"url\":\"http://no-such-host.invalid/a.jpg\"}\n")
        lines.append("{\"name\":\"closed\",\"url\":\"http://127.0.0.1:1/a.jpg\"}\n")
        let list = try scratch.write("list.jsonl", lines.joined())
        let outcome = try Program.run(
            "run", list, "-o", scratch.path("out"), "--allow-private", "--retries", "0", "--patience", "0s",
            "--stall-timeout", "5s",
            "--max-download", "2MiB")
        #expect(outcome.status == 3, "\(outcome.standardError)")
        let manifest = try Program.run("manifest", scratch.path("out"), "--json")
        let photos = try #require(try manifest.json() as? [[String: Any]])
        let found = Dictionary(
            photos.map { ($0["name"] as? String ?? "", $0["reason"] as? String) },
            uniquingKeysWith: { first, _ in first })
        for (name, (_, reason)) in routes { #expect(found[name] == .some(reason), "\(name)") }
        #expect(found["nobody"] == "name-not-found" && found["closed"] == "connect-failed")
        #expect(try scratch.contents("out").filter { $0 != "manifest" }.count == 1, "only the good photo is written")
    }

    /// Names that lead out of the folder, or that collide with each other.
    @Test func filesStayInsideTheFolder() throws {
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let url = server.url("flower.jpg")
        let names = [
            "../outside", "/etc/passwd", "..", ".", ".hidden", "a/../../b", "nul\\u0000byte", "a", "a.jpg", "a", "A",
            String(repeating: "long", count: 100), String(repeating: "long", count: 100) + "er", "\u{e9}t\u{e9}",
            "%2e%2e%2f",
        ]
        let lines = names.map { "{\"name\":\"\($0)\",\"url\":\"\(url)\"}\n" }
        let list = try scratch.write("list.jsonl", lines.joined())
        try FileManager.default.createDirectory(atPath: scratch.path("in"), withIntermediateDirectories: true)
        let outcome = try Program.run("run", list, "-o", scratch.path("in/out"), "--allow-private")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(try scratch.contents("in/out").filter { $0 != "manifest" }.count == names.count)
        #expect(try scratch.contents("in") == ["out"])
        #expect(try scratch.contents("") == ["in", "list.jsonl"])
    }

    /// Three worker processes on one Redis develop each photo once. Counts, states, manifest and files agree.
    @Test func threeWorkersDevelopEveryPhotoOnce() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let urls = (0..<150).map { server.url(["flower.jpg", "chelsea.jpg", "moon.png"][$0 % 3]) + "?\($0)" }
        let list = try scratch.write("list.txt", urls.joined(separator: "\n"))
        let workers = try (0..<3).map { _ in
            try queue.start("worker", "--allow-private", "--filtrations", "1", "--downloads", "4")
        }
        let id = try queue.run("submit", list, "-o", scratch.path("out"), "--operation-size", "5").lines[0]
        let waited = try queue.run("wait", id)
        #expect(waited.status == 0, "\(waited)")
        let batch = try #require(BatchID(id))
        let facts = try #require(try queue.store.facts(of: batch))
        for worker in workers { worker.send(SIGTERM) }
        for worker in workers { #expect(try worker.outcome().status == 0) }
        #expect(facts.counts.filtered == urls.count && facts.operationsEnded == 30)
        #expect(try queue.store.stateCodes(of: facts.id, in: 0..<urls.count).allSatisfy { $0 == UInt8(ascii: "F") })
        let manifest = try Program.run("manifest", scratch.path("out"), "--json")
        let photos = try #require(try manifest.json() as? [[String: Any]])
        #expect(photos.map { $0["index"] as? Int } == (0..<urls.count).map { $0 })
        for photo in photos {
            let file = try #require(photo["file"] as? String)
            let size = try FileManager.default.attributesOfItem(atPath: scratch.path("out/" + file))[.size] as? Int
            #expect(size == photo["bytes"] as? Int)
        }
        #expect(server.requests.values.reduce(0, +) == urls.count, "photos were downloaded twice")
    }

    /// No photo is lost if a worker is killed. Another worker takes over after the lease has expired.
    @Test func anotherWorkerTakesOverFromAKilledWorker() async throws {
        let queue = try Queue()
        let photo = try bytes("flower.jpg")
        let server = try HostileServer([
            "/quick.jpg": .answer(body: photo), "/slow.jpg": .inTurn([.stall, .answer(body: photo)]),
        ])
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("/quick.jpg\n") + server.url("/slow.jpg\n"))
        let id = try queue.run("submit", list, "-o", scratch.path("out"), "--lease", "6s").lines[0]
        let first = try queue.start("worker", "--allow-private")
        #expect(await server.wait { $0.requests["/slow.jpg"] == 1 })
        first.send(SIGKILL)
        let second = try queue.start("worker", "--allow-private")
        #expect(try queue.run("wait", id).status == 0)
        second.send(SIGTERM)
        #expect(try second.outcome().status == 0)
        let batch = try #require(BatchID(id))
        let facts = try #require(try queue.store.facts(of: batch))
        #expect(facts.counts.filtered == 2)
        #expect(try Program.run("manifest", scratch.path("out")).lines.count == 2)
        let hidden = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).filter {
            $0.hasPrefix(".")
        }
        #expect(hidden.isEmpty, "half-written files are left: \(hidden)")
    }

    /// Every command in the "Redis keys" page of the documentation works as shown.
    @Test func commandsOfTheRedisKeysPageWork() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("flower.jpg") + "\nNO URL\n")
        let worker = try queue.start("worker", "--allow-private")
        let id = try queue.run("submit", list, "-o", scratch.path("out")).lines[0]
        #expect(try queue.run("wait", id).status == 3)
        let page = try String(
            contentsOf: TestFiles.package
                .appendingPathComponent("Sources/Surfaces/Darkroom/Darkroom.docc/RedisKeys.md"), encoding: .utf8)
        let commands = page.split(separator: "\n").filter { $0.hasPrefix("redis-cli ") }
        #expect(commands.count >= 10)
        guard case .unix(let socket) = queue.redis.configuration.address else {
            Issue.record("the suite's Redis has no socket")
            return
        }
        for command in commands {
            let line = command.replacingOccurrences(of: "{darkroom}", with: "{\(queue.namespace)}")
            let shell = Process()
            let output = Pipe()
            shell.executableURL = URL(fileURLWithPath: "/bin/bash")
            shell.arguments = ["-c", "batch=\(id); redis-cli() { command redis-cli -s '\(socket)' \"$@\"; }; \(line)"]
            shell.standardOutput = output
            try shell.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0 && !text.isEmpty && !text.contains("ERR"), "\(line) printed: \(text)")
        }
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }
}
