import ArgumentParsing
import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `--on-finish`: a command of the user that runs once the batch has finished.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct FinishCommandTests {
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    func text(_ name: String) throws -> String {
        try String(contentsOfFile: scratch.path(name), encoding: .utf8)
    }

    /// Submits a list of two photos that fail, with `command` for `--on-finish`. Starts a worker; waits for `submit`.
    func submit(_ command: String, _ more: String...) throws -> Program.Outcome {
        let worker = try queue.start("worker")
        defer { worker.send(SIGTERM) }
        let list = try scratch.write("list.txt", "NO URL\nftp://photos.example/1\n")
        let arguments = ["submit", list, "-o", scratch.path("out"), "--wait", "--on-finish", command] + more
        return try Program(
            arguments + ["--namespace", queue.namespace], environment: queue.environment
        ).outcome()
    }

    @Test func getsTheFactsWhenTheBatchHasFinished() throws {
        let names = "BATCH NAME STATE STATUS PHOTOS FILTERED FAILED CANCELLED OUTPUT REDIS NAMESPACE"
        let variables = names.split(separator: " ").map { "$DARKROOM_\($0)" }.joined(separator: "|")
        let outcome = try submit(
            "cat > \(scratch.path("facts")); echo \"\(variables)\" > \(scratch.path("variables")); echo ping", "--name",
            "summer '26", "--json")
        #expect(outcome.status == 3, "the command must not change the status")
        let printed = try #require(try outcome.json() as? [String: Any], "it must print to standard error")
        #expect(outcome.standardError.contains("ping\n"))
        let facts = try #require(
            try JSONSerialization.jsonObject(with: Data(text("facts").utf8)) as? [String: Any])
        #expect(facts["state"] as? String == "finished")
        #expect(facts["id"] as? String == printed["id"] as? String)
        let batch = try queue.store.batch(named: "summer '26")
        let expected =
            "\(batch.id)|summer '26|finished|3|2|0|2|0|\(scratch.path("out"))|"
            + "\(queue.redis.configuration.displayName)|\(queue.namespace)\n"
        #expect(try text("variables") == expected)
    }

    @Test func commandGetsTheFactsDespiteAShortRetention() throws {
        let outcome = try submit("cat > \(scratch.path("facts"))", "--retain", "1ms")
        #expect(outcome.status == 3, "\(outcome)")
        #expect(try text("facts").contains("\"finished\""))
    }

    @Test(arguments: [
        ("exit 7", "the command ended with status 7: exit 7"),
        ("kill -TERM $$", "the command was ended by signal 15: kill -TERM $$"),
        ("/no/such/command", "the command ended with status 127: /no/such/command"),
    ])
    func failureOfTheCommandIsAnError(_ command: String, _ message: String) throws {
        let outcome = try submit(command)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("error: --on-finish: \(message)"), "\(outcome.standardError)")
        #expect(
            outcome.standardError.contains("2 photos: 0 filtered, 2 failed"),
            "the summary of the batch must be printed, too")
    }

    @Test func isRunForACancelledBatch() throws {
        let list = try scratch.write("list.txt", "http://photos.example/1\n")
        let waiting = try queue.start(
            "submit", list, "-o", scratch.path("out"), "--wait", "--on-finish",
            "echo $DARKROOM_STATE $DARKROOM_STATUS $DARKROOM_CANCELLED > \(scratch.path("result"))")
        try waiting.waitFor("no running worker")
        let id = try #require(try queue.store.batchIDs().first)
        _ = try queue.store.perform(queue.store.cancel(id))
        let outcome = try waiting.outcome()
        #expect(outcome.status == 4, "\(outcome)")
        #expect(try text("result") == "cancelled 4 1\n")
    }

    @Test func commandReceivesSignalsThatTheProgramBlocks() throws {
        // The program blocks SIGTERM.
        let command = ShellCommand("kill -TERM $$; exit 5", environment: [:], input: "")
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #expect(try command.run() == .signal(SIGTERM))
    }

    @Test func inputMayBeLargeAndUnread() throws {
        let large = String(repeating: "x", count: 1 << 20)
        #expect(try ShellCommand("exit 3", environment: [:], input: large).run() == .status(3))
        let counting = ShellCommand("test $(wc -c) = $WANTED", environment: ["WANTED": "1048576"], input: large)
        #expect(try counting.run() == .status(0))
    }

    @Test func commandOfRunReachesThePrivateRedis() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        let darkroom = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("darkroom").path
        let outcome = try Program.run(
            "run", list, "-o", scratch.path("out"), "--on-finish",
            "\(darkroom) photos $DARKROOM_BATCH > \(scratch.path("photos"))")
        #expect(outcome.status == 3, "\(outcome)")
        #expect(try text("photos").contains("scheme-denied"))
    }

    @Test func commandGetsTheAddressOfRedisWithoutItsPassword() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        _ = try RedisConnection(redis.configuration).call(RedisCommand("CONFIG", "SET", "requirepass", "hush-redis"))
        let address = redis.configuration.displayName
        let secret = address.replacingOccurrences(of: "unix://", with: "unix://:hush-redis@")
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        func check(_ outcome: Program.Outcome) throws {
            #expect(outcome.status == 3, "\(outcome)")
            let environment = try text("command")
            #expect(!environment.contains("hush") && environment.contains("DARKROOM_REDIS=\(address)\n"))
            unlink(scratch.path("command"))
        }
        let command = ["--redis", secret, "--on-finish", "env > \(scratch.path("command"))"]
        try check(
            Program(
                ["run", list, "-o", scratch.path("out")] + command,
                environment: [
                    "DARKROOM_REDIS": secret, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=hush", "MY_TOKEN": "hush",
                ]
            )
            .outcome())
        let worker = try Program(["worker"], environment: ["DARKROOM_REDIS": secret])
        defer { worker.send(SIGTERM) }
        try check(Program(["submit", list, "-o", scratch.path("more"), "--wait"] + command).outcome())
    }

    @Test func commandAndRedisOfARunGetNoSecretsAndNoFiles() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        let command = "env > \(scratch.path("command")); ls /proc/self/fd > \(scratch.path("files"))"
        // redis-server overwrites its environment. A script records the environment and then starts redis-server.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let script = try scratch.write(
            "redis-server", "#!/bin/sh\nenv > \(scratch.path("redis"))\nPATH='\(path)' exec redis-server \"$@\"\n")
        try #require(chmod(script, 0o755) == 0)
        let secrets = ["DARKROOM_REDIS_PASSWORD", "DARKROOM_REDIS_SENTINEL_PASSWORD", "DARKROOM_WEBHOOK_SECRET"]
        var environment = Dictionary(uniqueKeysWithValues: secrets.map { ($0, "hush") })
        environment["PATH"] = URL(fileURLWithPath: script).deletingLastPathComponent().path + ":" + path
        let outcome = try Program.run(
            "run", list, "-o", scratch.path("out"), "--on-finish", command, environment: environment)
        #expect(outcome.status == 3, "\(outcome)")
        #expect(try !text("command").contains("hush") && text("command").contains("DARKROOM_BATCH="))
        #expect(try !text("redis").contains("DARKROOM_") && text("redis").contains("PATH="))
        #expect(try text("files") == "0\n1\n2\n3\n", "descriptor 3 is the listed folder")
    }
}
