import Darkroom
import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

/// Searches all of Redis and all published, printed, logged and written text for passwords, secrets, and the users,
/// passwords and queries of URLs. Every secret in these tests contains "hush".
@Suite(.timeLimit(.minutes(5)), .serialized) struct SecretsTests {
    private let redis: RedisServer
    private let port: Int
    private let administrator: RedisConnection
    private let scratch: ScratchFolder

    init() throws {
        port = try RedisServer.freePort()
        redis = try RedisServer(port: port)
        scratch = try ScratchFolder()
        _ = try RedisConnection(redis.configuration).call(RedisCommand("CONFIG", "SET", "requirepass", "hush-redis"))
        administrator = RedisConnection(try RedisConfiguration(url: "redis://:hush-redis@127.0.0.1:\(port)"))
    }

    private var environment: [String: String] {
        [
            "DARKROOM_REDIS": "redis://127.0.0.1:\(port)", "DARKROOM_REDIS_PASSWORD": "hush-redis",
            "DARKROOM_WEBHOOK_SECRET": "hush-webhook",
        ]
    }

    private func start(_ arguments: String...) throws -> Program {
        try Program(arguments, environment: environment)
    }

    /// All data in Redis, as one text for each key. Operations are decompressed.
    private func everything() throws -> [String: String] {
        var contents: [String: String] = [:]
        func texts(_ value: RedisValue) -> [String] {
            if let list = value.array { return list.flatMap(texts) }
            return [value.bytes.map { String(decoding: $0, as: UTF8.self) } ?? value.int.map(String.init) ?? ""]
        }
        for key in try administrator.call(RedisCommand("KEYS", "*")).array?.compactMap(\.string) ?? [] {
            let type = try administrator.call(RedisCommand("TYPE", key)).string
            let command =
                switch type {
                case "hash": RedisCommand("HGETALL", key)
                case "set": RedisCommand("SMEMBERS", key)
                case "zset": RedisCommand("ZRANGE", key, "0", "-1", "WITHSCORES")
                case "string": RedisCommand("GET", key)
                case "none": nil as RedisCommand?  // removed since KEYS
                default: throw CocoaError(.featureUnsupported)  // Darkroom uses no other types
                }
            guard let command else { continue }
            let value = try administrator.call(command)
            if key.hasSuffix(":operations") {
                let entries = (value.array ?? []).enumerated().filter { $0.offset % 2 == 1 }.compactMap(\.element.bytes)
                contents[key] = try entries.flatMap { try OperationEntry.records(of: $0, firstIndex: 0) }
                    .map { "\($0.name)\t\($0.url)" }.joined(separator: "\n")
            } else {
                contents[key] = texts(value).joined(separator: "\n")
            }
        }
        return contents
    }

    private func checkRedis() throws {
        let contents = try everything()
        #expect(
            contents.keys.contains { $0.hasSuffix(":states") } && contents.keys.contains { $0.contains(":worker:") })
        for (key, text) in contents {
            #expect(!key.contains("hush"))
            let foreign = key.hasSuffix(":operations") ? text.replacing("hush-url", with: "") : text
            #expect(!foreign.contains("hush"), "\(key): \(text)")
        }
    }

    /// The photo list: photos with each kind of failure, and secrets in each URL.
    private func lines(_ server: HostileServer) -> [String] {
        let host = "ann:hush-url@127.0.0.1:\(server.port)"
        let paths = [
            "photo.jpg", "missing.jpg", "broken.jpg", "error.jpg", "away.jpg", "loop.jpg", "ftp.jpg", "garbage.jpg",
            "cut.jpg",
            "held.jpg",
        ]
        return paths.map { "http://\(host)/\($0)?token=hush-url#hush-url" } + [
            "http://ann:hush-url@127.0.0.1:1/refused.jpg?hush-url",
            "http://ann:hush-url@nowhere.invalid/a.jpg?hush-url",
            "http://ann:hush-url/x@127.0.0.1/a.jpg?hush-url",
            "https://ann:hush-url@127.0.0.1:\(server.port)/tls.jpg?hush-url",
            "ftp://ann:hush-url@photos.example/a.jpg?hush-url", "ann:hush-url@photos.example",
            "ann:hush-url@h/a.jpg?hush-url",
            "file:///nowhere/a.jpg?hush-url",
        ]
    }

    private static let routes: [String: HostileServer.Route] = {
        let photo = HostileServer.Route.answer(body: RunCommandTests.photo)
        let redirected = "eve:hush-redirect@127.0.0.1:1/x.jpg?key=hush-redirect"
        let faults: [String: HostileServer.Route] = [
            "photo": photo, "held": .held(photo), "broken": .answer(body: Array(RunCommandTests.photo.prefix(2000))),
            "garbage": .answer(body: Array("ann:hush-url".utf8)),
            "error": .answer(status: 500, body: Array("hush-url".utf8)), "away": .redirect(to: "https://\(redirected)"),
            "loop": .redirect(to: "/loop.jpg?token=hush-url"), "ftp": .redirect(to: "ftp://\(redirected)"),
            "cut": .closeHalfWay(body: RunCommandTests.photo, declared: 1 << 20),
        ]
        let paths = faults.map { ("/\($0.key).jpg?token=hush-url", $0.value) }
        return Dictionary(uniqueKeysWithValues: paths + [("/hook", .answer())])
    }()

    @Test func secretsAreOnlyInOperations() async throws {
        defer { redis.stop() }
        let server = try HostileServer(Self.routes)
        defer { server.stop() }
        let photos = lines(server)
        let lists = try HostileServer([
            "/list.txt?key=hush-list": .answer(body: Array(photos.joined(separator: "\n").utf8))
        ])
        defer { lists.stop() }
        let events = Locked("")
        let subscription = RedisSubscription(
            try RedisConfiguration(url: "redis://:hush-redis@127.0.0.1:\(port)"),
            channels: [try Keys().eventsChannel, try Keys().controlChannel]
        ) { event in
            guard case .message(_, let payload) = event else { return }
            events.withLock { $0 += String(decoding: payload, as: UTF8.self) + "\n" }
        }
        defer { subscription.close() }

        var printed = ""
        func outcome(_ program: Program) throws -> Program.Outcome {
            let outcome = try program.outcome()
            printed += outcome.standardOutput + outcome.standardError
            return outcome
        }
        let list = "http://eve:hush-list@127.0.0.1:\(lists.port)/list.txt?key=hush-list"
        let submitted = try outcome(
            start(
                "submit", list, "-o", scratch.path("out"), "--redact-urls", "--operation-size", "2", "--webhook",
                server.url("/hook")))
        #expect(submitted.status == 0, "\(submitted)")
        let id = try #require(submitted.lines.first)
        let operations = try everything().first { $0.key.hasSuffix(":operations") }?.value ?? ""
        #expect(photos.allSatisfy(operations.contains), "operations must have the complete URLs: \(operations)")
        _ = try outcome(start("photos", id))  // while only the operations have the URLs

        let worker = try start(
            "worker", "--allow-private", "--retries", "0", "--patience", "0s", "--header",
            "127.0.0.1:\(server.port)=Authorization: Bearer hush-header",
            "--webhook-hosts", "127.0.0.1:\(server.port)", "--log-level", "debug")
        // Waits until all photos except the held one are final. After that, Redis has the failures of these photos.
        let store = BatchStore(try RedisConfiguration(url: "redis://:hush-redis@127.0.0.1:\(port)"), keys: try Keys())
        try waitUntil("the photos have ended") {
            try store.facts(of: #require(BatchID(id)))?.counts.final == photos.count - 1
        }
        try checkRedis()
        server.release()
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        #expect(try outcome(start("wait", id)).status == 3)
        try checkRedis()
        for command in ["photos", "operations", "status"] {
            for more in [[], ["--json"]] {
                _ = try outcome(Program([command, id] + more, environment: environment))
            }
        }
        for more in [[], ["--json"], ["--csv"]] {
            let manifest = try outcome(Program(["manifest", scratch.path("out")] + more))
            #expect(manifest.standardOutput.contains("http://127.0.0.1:\(server.port)/photo.jpg"))
        }
        _ = try outcome(start("workers"))
        _ = try outcome(start("batches", "--json"))
        worker.send(SIGTERM)
        #expect(try outcome(worker).status == 0)
        #expect(printed.contains("reason=http-5xx") && printed.contains("reason=address-denied") == false)

        #expect(events.withLock { $0 }.contains(id), "\(events.withLock { $0 })")
        let manifests = try FileManager.default.subpathsOfDirectory(atPath: scratch.path("out/manifest")).filter {
            $0.hasSuffix(".jsonl")
        }.compactMap {
            FileManager.default.contents(atPath: scratch.path("out/manifest/" + $0))
        }.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(manifests.split(separator: "\n").count == photos.count)
        let webhooks = String(decoding: server.log.bodies.joined(), as: UTF8.self)
        for (name, text) in [
            ("printed or logged", printed), ("published", events.withLock { $0 }), ("manifests", manifests),
            ("webhooks", webhooks),
        ] {
            let found = text.split(separator: "\n").filter { $0.contains("hush") || $0.contains("ann:") }
            #expect(found == [], "\(name)")
        }
    }

    @Test func manifestsHaveNoPasswordsAndWithRedactURLsNoQueries() throws {
        defer { redis.stop() }
        let list = try scratch.write("list.txt", "http://ann:word@127.0.0.1:1/a.jpg?k=v#f\nNO URL\n")
        func run(_ more: String...) throws -> [String] {
            let arguments = [
                "run", list, "-o", scratch.path("out"), "--again", "--allow-private", "--retries", "0", "--patience",
                "0s",
            ]
            _ = try Program(arguments + more, environment: ["XDG_RUNTIME_DIR": scratch.path("")]).outcome()
            let manifest = try Program.run("manifest", scratch.path("out"), "--json").json() as? [[String: Any]]
            return manifest?.compactMap { $0["url"] as? String } ?? []
        }
        #expect(try run() == ["http://127.0.0.1:1/a.jpg?k=v#f", "NO URL"])
        #expect(try run("--redact-urls") == ["http://127.0.0.1:1/a.jpg", "NO URL"])
        // Without `--redact-urls` the manifest would mix redacted and complete URLs, so `run` refuses.
        let other = try Program(
            ["run", list, "-o", scratch.path("out"), "--allow-private", "--retries", "0", "--patience", "0s"],
            environment: ["XDG_RUNTIME_DIR": scratch.path("")]
        ).outcome()
        #expect(other.status == 1 && other.standardError.contains("the URLs in the manifest then redacted, now whole"))
    }

    @Test func adviceAfterAnInterruptHasNoSecrets() async throws {
        defer { redis.stop() }
        let body = Array((0..<5000).map { "http://photos.example/\($0).jpg\n" }.joined().utf8)
        let lists = try HostileServer(["/list.txt?hush": .stallHalfWay(body: body, declared: 1 << 20)])
        defer { lists.stop() }
        let submit = try start(
            "submit", "http://eve:hush-list@127.0.0.1:\(lists.port)/list.txt?hush", "-o", scratch.path("out"),
            "--operation-size", "50")
        try submit.waitFor("no running worker")
        submit.send(SIGINT)
        let outcome = try submit.outcome()
        #expect(outcome.status == 130 && !outcome.standardError.contains("hush"), "\(outcome)")
        #expect(outcome.standardError.contains("darkroom submit http://127.0.0.1:\(lists.port)/list.txt --resume"))
    }
}
