import ArgumentParsing
import Darkroom
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// `submit --dry-run` and `run --dry-run`.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct DryRunTests {
    private static let samples = RunCommandTests.samples
    private static let list = """
        name,url
        Cliff,https://photos.example/cliff.jpg
        Zebra,NO URL
        Cliff,ftp://ann:secret@photos.example/cliff.jpg
        Lake,https://photos.example/lake.jpg

        """
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    private func list() throws -> String { try scratch.write("list.csv", Self.list) }

    private func run(_ arguments: [String]) throws -> Program.Outcome {
        try FileManager.default.createDirectory(atPath: scratch.path("run"), withIntermediateDirectories: true)
        return try Program(["run"] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path("run")]).outcome()
    }

    private func dryRun(_ more: String...) throws -> Program.Outcome {
        try run([Self.samples, "-o", scratch.path("out"), "--dry-run"] + more)
    }

    @Test func runDescribesTheListAndStoresNothing() throws {
        let outcome = try run([list(), "-o", scratch.path("a/b"), "--dry-run", "--format", "webp", "--strip"])
        let note =
            "photos: no filters; encoding format=webp; metadata=none; each photo is encoded again\n"
        #expect(outcome.status == 0 && outcome.standardError == note, "\(outcome)")
        #expect(
            outcome.lines == [
                "list\t\(scratch.path("list.csv")), CSV or TSV", "photos\t4",
                "no usable URL\t1 not-a-url, 1 scheme-denied", "line 3, photo 1\tZebra: not-a-url: NO URL",
                "line 4, photo 2\tCliff: scheme-denied: scheme ftp is none of http, https and file",
                "repeated names\t1: Cliff", "file\t000000-Cliff.webp", "file\t000001-Zebra.webp",
                "file\t000002-Cliff.webp", "file\t000003-Lake.webp", "filters\tnone",
                "encoding\tformat=webp; metadata=none", "output\t\(scratch.path("a/b")) (new)",
                "would\tbegin a new run",
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["list.csv", "run"])
        #expect(try scratch.contents("run").isEmpty)
    }

    @Test func documentHasTheSelectionAndTheOptions() throws {
        let selection = ["--sample", "2", "--seed", "4"]
        let outcome = try run([list(), "-o", scratch.path("out"), "--dry-run", "--json"] + selection)
        let facts = try #require(try outcome.json() as? [String: Any], "\(outcome)")
        #expect(facts["photos"] as? Int == 2 && facts["listedPhotos"] as? Int == 4 && facts["seed"] as? Int == 4)
        #expect(facts["would"] as? String == "begin" && facts["outputExists"] as? Bool == false)
        #expect(facts["encoding"] as? String == "" && facts["filters"] as? [String] == [])
        #expect((facts["firstFiles"] as? [String])?.count == 2 && (facts["lastFiles"] as? [String])?.isEmpty == true)
        #expect(facts["acceptsDamage"] as? Bool == false && facts["renditions"] as? [String] == [])
        let limited = try run([list(), "-o", scratch.path("out"), "--dry-run", "--limit", "1"])
        #expect(limited.lines.contains("photos\t1, the first of the list"), "\(limited)")
    }

    @Test func documentHasTheRenditions() throws {
        let renditions = ["--rendition", "small = resize=100; format=webp", "--rendition", "grey = grayscale"]
        let outcome = try run(
            [list(), "-o", scratch.path("out"), "--dry-run", "--json", "--on-damaged", "accept", "--quality", "70"]
                + renditions)
        let facts = try #require(try outcome.json() as? [String: Any], "\(outcome)")
        #expect(facts["renditions"] as? [String] == ["small = resize=100x; format=webp", "grey = grayscale=1"])
        #expect(facts["filters"] as? [String] == [] && facts["encoding"] as? String == "quality=70")
        #expect(facts["onDamaged"] as? String == "accept")
        #expect(facts["acceptsDamage"] as? Bool == true && facts["keepsAnimations"] as? Bool == false)
        #expect((facts["firstFiles"] as? [String])?.prefix(2) == ["small/000000-Cliff.webp", "grey/000000-Cliff.*"])
    }

    /// The dry run does not read the Redis of the run, so it cannot know that the batch was cancelled.
    @Test func warnsThatACancelledRunIsNotDetected() throws {
        #expect(try run([Self.samples, "-o", scratch.path("out"), "--limit", "2"]).status == 0)
        let lines = try dryRun().lines
        #expect(lines.contains { $0.hasPrefix("warning\tthe Redis of the earlier run was not read") }, "\(lines)")
        let facts = try #require(try dryRun("--limit", "2", "--json").json() as? [String: Any])
        #expect((facts["warnings"] as? [String])?.first?.contains("cancelled") == true)
        #expect(try !dryRun("--again").lines.contains { $0.hasPrefix("warning") })
    }

    @Test func runSaysWhetherItBeginsContinuesOrHasFinished() throws {
        #expect(try dryRun().lines.last == "would\tbegin a new run")
        #expect(try run([Self.samples, "-o", scratch.path("out"), "--limit", "2"]).status == 0)
        let batch = try #require(RunFolder.earlier(inOutput: scratch.path("out"))?.batch)
        let state = try FileManager.default.subpathsOfDirectory(atPath: scratch.path("out")).sorted()
        #expect(
            try dryRun().lines.last == "would\tcontinue the run of batch \(batch), of which 2 photos are done")
        #expect(
            try dryRun("--limit", "2").lines.last
                == "would\tdo nothing: the run of batch \(batch) has finished this list")
        #expect(
            try dryRun("--again").lines.last
                == "would\tforget the run of batch \(batch), and develop all photos again")
        for (options, found) in [
            (["--limit", "1"], "the earlier run there has the results of 2 photos, and the list has 1"),
            (
                ["--quality", "9"],
                "the run of batch \(batch) there differs: the encoding then the default, now quality=9"
            ),
        ] {
            let refused = try run([Self.samples, "-o", scratch.path("out"), "--dry-run"] + options)
            #expect(refused.status == 1 && refused.standardError.contains(found), "\(refused)")
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: scratch.path("out")).sorted() == state)
    }

    @Test func runSaysThatFailedPhotosRunAgain() throws {
        let list = try scratch.write("list.txt", "ftp://h/1\nftp://h/2\n")
        #expect(try run([list, "-o", scratch.path("out")]).status == 3)
        let last = try run([list, "-o", scratch.path("out"), "--dry-run"]).lines.last
        #expect(last?.hasSuffix("has finished this list (2 failed, --retry runs them again)") == true)
        let retried = try run([list, "-o", scratch.path("out"), "--dry-run", "--retry"]).lines.last
        #expect(retried?.hasPrefix("would\trun 2 failed photos of batch ") == true)
    }

    @Test func runIsRefusedWhileAnotherRunUsesTheFolder() throws {
        #expect(try run([Self.samples, "-o", scratch.path("out"), "--limit", "1"]).status == 0)
        let lock = open(scratch.path("out/.darkroom/lock"), O_RDWR)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let refused = try dryRun("--limit", "1")
        #expect(refused.status == 1 && refused.standardError.contains("another darkroom run uses it"), "\(refused)")
    }

    /// The error of the command without `--dry-run` is the same.
    @Test(arguments: [
        ["missing.csv", "-o", "out"], ["empty.txt", "-o", "out"], ["damaged.csv", "-o", "out"],
        ["list.csv", "-o", "list.csv"], ["list.csv", "-o", "list.csv/below"], ["list.csv", "-o", "dangling/below"],
        ["list.csv", "-o", "taken"],
    ])
    func errorsAreThoseOfTheCommand(_ arguments: [String]) throws {
        _ = try list()
        _ = try scratch.write("empty.txt", "")
        _ = try scratch.write("damaged.csv", "name,url\na,http://h/1\n\"b,http://h/2\n")
        #expect(symlink(scratch.path("nowhere"), scratch.path("dangling")) == 0)
        let other = "taken/manifest/20260101-000000000-aaaa"
        try FileManager.default.createDirectory(atPath: scratch.path(other), withIntermediateDirectories: true)
        _ = try scratch.write("\(other)/000001-1.jsonl", "")
        let arguments = arguments.map { $0 == "-o" ? $0 : scratch.path($0) }
        let options = ["--namespace", queue.namespace]
        for command in [["run"] + arguments, ["submit"] + arguments + options] {
            func error(_ more: [String]) throws -> String? {
                let outcome = try Program(command + more, environment: queue.environment).outcome()
                #expect(outcome.status == 1 && outcome.standardOutput.isEmpty, "\(outcome)")
                return outcome.standardError.split(separator: "\n").last.map { String($0.split(separator: ";")[0]) }
            }
            let dry = try error(["--dry-run"])
            #expect(!scratch.exists("out") && !scratch.exists("nowhere"))
            #expect(try dry == error([]), "\(command)")
            for folder in ["out", "nowhere", "taken/.darkroom"] {
                try? FileManager.default.removeItem(atPath: scratch.path(folder))
            }
        }
    }

    @Test func submitNeedsNoRedis() throws {
        let outcome = try Program.run(
            "submit", list(), "-o", scratch.path("out"), "--dry-run", "--priority", "high", "--redis",
            "unix://\(scratch.path("none"))")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.contains { $0.hasPrefix("warning\tRedis was not checked: ") })
        #expect(outcome.lines.contains("priority\thigh") && outcome.lines.last == "would\tsubmit a new batch")
        #expect(!scratch.exists("out"))
    }

    @Test func submitChecksARedisThatAnswers() throws {
        let id = try queue.submit(["http://h/1"]) {
            $0.name = "holidays"
            $0.output = "/remote"
            $0.remoteOutput = true
        }
        let list = try list()
        let accepted = try queue.run("submit", list, "-o", scratch.path("out"), "--dry-run", "--after", "holidays")
        #expect(accepted.status == 0 && accepted.lines.contains { $0.hasPrefix("warning\tno worker is running") })
        for (options, found) in [
            (["--name", "holidays"], "the name \"holidays\": batch \(id) has it and has not finished"),
            (["--after", "none"], "--after: no batch \"none\""),
            (["--remote-output", "-o", "/remote"], "output folder /remote: batch \(id) writes there"),
        ] {
            let arguments = ["submit", list, "-o", scratch.path("out"), "--dry-run", "--namespace", queue.namespace]
            let refused = try Program(arguments + options, environment: queue.environment).outcome()
            #expect(refused.status == 1 && refused.standardError.contains(found), "\(refused)")
        }
        #expect(try queue.store.batchIDs() == [id] && queue.store.identity() == nil && !scratch.exists("out"))
    }

    @Test func interruptEndsTheReading() throws {
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // The open pipe never ends.
        let writer = open(pipe, O_RDWR)
        defer { close(writer) }
        let text = Array("http://photos.example/0.jpg\n".utf8)
        for command in ["submit", "run"] {
            #expect(write(writer, text, text.count) == text.count)
            let program = try Program([command, "-", "-o", scratch.path("out"), "--dry-run"], input: pipe)
            var unread = Int32(text.count)
            try waitUntil("the list is read") {
                let status = ioctl(writer, UInt(FIONREAD), &unread)
                #expect(status == 0)
                return unread == 0
            }
            program.insist(SIGINT)
            let outcome = try program.outcome()
            #expect(outcome.status == 130 && outcome.standardOutput.isEmpty, "\(outcome)")
        }
    }

    @Test(arguments: [["--wait"], ["--resume", "b"]])
    func onlyANewBatchHasADryRun(_ options: [String]) throws {
        let end = try requireError(CommandExit.self) {
            try DarkroomProgram.parseAsRoot(["submit", "l", "-o", "/o", "--dry-run"] + options)
        }
        #expect(end.code == .usage && end.standardError.contains("--dry-run"), "\(end.standardError)")
    }
}
