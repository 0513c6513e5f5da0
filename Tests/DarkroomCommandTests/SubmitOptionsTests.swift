import ArgumentParsing
import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// The options of `submit` and `run` that relate a batch to other batches, and their errors.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct SubmitOptionsTests {
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    func list(_ count: Int) throws -> String {
        try scratch.write("list.txt", (0..<count).map { "http://photos.example/\($0).jpg\n" }.joined())
    }

    func batch(_ outcome: Program.Outcome) throws -> BatchFacts {
        try queue.store.batch(named: #require(outcome.lines.first, "\(outcome)"))
    }

    @Test(arguments: [
        ("--priority urgent", "--priority \"urgent\": it can be veryLow, low, normal, high, veryHigh"),
        ("--after-success", "--after-success: name the batches that must succeed, with --after\n"),
        ("--webhook photos.example", "--webhook: photos.example; write it like https://"),
        ("--webhook ftp://photos.example", "--webhook: scheme ftp is none of http, https and file; write it like"),
        ("--webhook file:///etc/passwd", "--webhook: a file: URL cannot receive a webhook"),
        ("--webhook http://a:b", "--webhook: the port of the URL is not a number up to 65535"),
        ("--webhook=", "--webhook: the entry is empty"),
        ("--lease 5s", "--lease 5s: at least 6s"), ("--lease 25h", "--lease 25h: at most 24h"),
        ("--on-finish true", "--on-finish: only with --wait"),
        ("--on-finish= --wait", "--on-finish \"\": the command is empty"),
        ("--originals=", "--originals \"\": the folder's path is empty"),
        ("--originals here --remote-output", "--originals \"here\": with --remote-output the path must be absolute"),
        ("--filter x:", "--filter \"x:\": character 1: a custom filter is x: and a name"),
        ("--filter x:a.b", "--filter \"x:a.b\": character 1: a custom filter is x: and a name"),
        ("--filter sepia --rendition a=flip", "--filter: each rendition has filters of its own"),
    ])
    func badValueIsAUsageError(_ options: String, _ message: String) throws {
        let arguments = ["submit", "list", "-o", "/out"] + options.split(separator: " ").map(String.init)
        let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(arguments) }
        #expect(end.code == .usage && end.standardOutput.isEmpty)
        #expect(end.standardError.contains("error: \(message)"), "\(end.standardError)")
    }

    @Test(arguments: [
        "https://ann:secret@photos.example/", "http://secret@photos.example", "ftp://ann:secret@h",
        "http://secret@\u{301}photos.example",
    ])
    func secretsInAWebhookURLAreRejectedAndNotShown(_ url: String) throws {
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot(["submit", "list", "-o", "/out", "--webhook", url])
        }
        #expect(end.code == .usage && !end.standardError.contains("secret@"), "\(end.standardError)")
        #expect(end.standardError.contains("--webhook: "))
    }

    @Test func resumeNamesTheOptionsOfANewBatch() throws {
        let line =
            "submit l --resume b --quality 85 --priority high --after a --originals /o --remote-output --wait --json"
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot(
                line.split(separator: " ").map(String.init), environment: ["DARKROOM_REDIS": "unix:///here"])
        }
        // The message lists the options in the order of the help.
        let named = "(--remote-output, --quality, --originals, --priority, --after)"
        #expect(end.standardError.contains("leave out the options of a new batch \(named)"), "\(end.standardError)")
        let good = ["submit", "l", "--resume", "b", "--wait", "--json", "--on-finish", "true", "--namespace", "n"]
        #expect(throws: Never.self) { try DarkroomProgram.parseAsRoot(good) }
    }

    @Test(arguments: [
        ["DARKROOM_REDIS": "redis://h", "DARKROOM_REDIS_PASSWORD_FILE": "password"],
        [
            "DARKROOM_REDIS": "rediss://h", "DARKROOM_REDIS_CA": "ca", "DARKROOM_REDIS_CERT": "certificate",
            "DARKROOM_REDIS_KEY": "key",
        ],
    ])
    func resumeAcceptsTheOptionsForRedis(_ environment: [String: String]) throws {
        var environment = environment
        for (name, file) in environment where name != "DARKROOM_REDIS" {
            environment[name] = try scratch.write(file, "secret\n")
        }
        #expect(throws: Never.self) {
            try DarkroomProgram.parseAsRoot(["submit", "l", "--resume", "b"], environment: environment)
        }
    }

    @Test func customFiltersRequireWorkersThatHaveThem() throws {
        for (line, message) in [
            ("develop a b --filter x:mine", "develop runs no custom filters"),
            ("run a -o b --filter x:mine", "the worker of this run has no such filter"),
        ] {
            let end = try requireError(CommandExit.self) {
                try DarkroomProgram.parseAsRoot(line.split(separator: " ").map(String.init))
            }
            #expect(end.standardError.contains("error: --filter x:mine: \(message)"), "\(end.standardError)")
        }
        let submitted = try batch(queue.run("submit", list(1), "-o", scratch.path("out"), "--filter", "x:my-own_1"))
        #expect(submitted.options.filters == [.custom("my-own_1")])
    }

    @Test func setsPriorityDependenciesWebhookAndOriginals() throws {
        let first = try batch(queue.run("submit", list(1), "-o", scratch.path("1"), "--name", "first"))
        let second = try batch(queue.run("submit", list(1), "-o", scratch.path("2"), "--name", "second"))
        let third = try batch(
            queue.run(
                "submit", list(120), "-o", scratch.path("3"), "--after", "first", "--after", "\(second.id)", "--after",
                "\(first.id)", "--after-success", "--priority", "veryHigh", "--webhook", "https://h.example/x?y=1",
                "--originals", scratch.path("./a/../originals")))
        #expect(third.state == .waiting && third.sealed)
        #expect(third.options.priority == .veryHigh && third.options.afterSuccess)
        #expect(third.options.webhook == "https://h.example/x?y=1")
        #expect(third.options.originals == scratch.path("originals") && scratch.exists("originals"))
        #expect(third.waitsFor == [first.id, second.id])
    }

    @Test func usedNameIsRejectedUntilItsBatchHasFinished() throws {
        let id = try queue.submit(["http://h/1"]) { $0.name = "holidays" }
        let refused = try queue.run("submit", list(1), "-o", scratch.path("out"), "--name", "holidays")
        #expect(refused.status == 1 && refused.standardOutput.isEmpty)
        #expect(
            refused.standardError.contains(
                "error: the name \"holidays\": batch \(id) has it and has not finished; choose another name"),
            "\(refused.standardError)")
        #expect(try queue.store.batchIDs() == [id] && !scratch.exists("out/manifest"))
        try queue.develop("F")
        let second = try batch(queue.run("submit", list(1), "-o", scratch.path("out"), "--name", "holidays"))
        #expect(try queue.run("status", "holidays").lines.first == "batch\t\(second.id)", "the newest batch")
        for name in ["a\u{1b}[2J", "a\nb", String(repeating: "n", count: 201)] {
            #expect(try queue.run("submit", list(1), "-o", scratch.path("x"), "--name", name).status == 2)
        }
    }

    @Test func afterRequiresExactlyOneBatch() throws {
        let id = try queue.submit(["http://h/1"])
        try queue.submit(["http://h/1"])
        let both = String(id.description.prefix(6))
        for (name, found) in [("none", "--after: no batch \"none\""), (both, "--after: \"\(both)\" names 2 batches")] {
            let outcome = try queue.run("submit", list(1), "-o", scratch.path("out"), "--after", name)
            #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.contains(found), "\(outcome.standardError)")
        }
        #expect(try queue.store.batchIDs().count == 2)
        #expect(!scratch.exists("out"))
    }
}
