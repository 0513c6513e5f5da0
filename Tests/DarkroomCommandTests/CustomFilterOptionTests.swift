import Darkroom
import DarkroomImaging
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `--custom-filter` of `worker` and `run`: commands as custom filters.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct CustomFilterOptionTests {
    private static let examples = TestFiles.package.appendingPathComponent(
        "Examples/CustomFilters")

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test(arguments: [
        ("convert png:- -resize 400x400 jpg:-", ["--custom-filter-input", "png"]),
        ("convert - -resize '400x400>' jpg:-", ["--isolate"]),
        (examples.appendingPathComponent("shrink.py").path, []),
        (examples.appendingPathComponent("shrink_stream.py").path, ["--custom-filter-style", "stream"]),
        (examples.appendingPathComponent("shrink_stream.py").path, ["--custom-filter-style", "stream", "--isolate"]),
    ])
    func examplesShrinkPhotos(_ command: String, _ options: [String]) throws {
        let outcome = try Program(
            [
                "run", TestFiles.samples, "-o", scratch.path("out"), "--custom-filter", "shrink=\(command)", "--filter",
                "x:shrink",
            ]
                + options + ["--json"]
        ).outcome()
        let facts = try #require(try outcome.json() as? [String: Any], "\(outcome.standardError)")
        #expect((facts["counts"] as? [String: Int])?["filtered"] == 9, "\(facts)")
        let files = try scratch.contents("out").filter { $0 != "manifest" }
        #expect(files.count == 9 && files.allSatisfy { $0.hasSuffix(".jpg") }, "\(files)")
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.path("out/\(file)"))))
            let image = try Imaging.develop(bytes, DevelopOptions())[0]
            #expect(max(image.width, image.height) == 400)
        }
    }

    @Test(arguments: [
        (
            #"label=convert png:- -font DejaVu-Sans -gravity south -annotate 0 "$DARKROOM_INDEX" jpg:-"#, "x:label"
        ), (#"small=convert png:- -resize "$DARKROOM_ARGUMENTS" jpg:-"#, "x:small=50x50"),
    ])
    func examplesOfTheDocumentationRun(_ operation: String, _ filter: String) throws {
        let pages = TestFiles.package.appendingPathComponent(
            "Sources/Surfaces/Darkroom/Darkroom.docc")
        let page = try String(contentsOf: pages.appendingPathComponent("CustomFilters.md"), encoding: .utf8)
        #expect(page.contains(operation.replacing("=convert", with: "='convert") + "'"))
        let outcome = try Program(
            [
                "run", TestFiles.samples, "-o", scratch.path("out"), "--custom-filter-input", "png", "--custom-filter",
                operation,
                "--filter", filter,
            ]
        ).outcome()
        #expect(outcome.standardOutput.contains("9 photos: 9 filtered"), "\(outcome)")
    }

    @Test(arguments: [
        (["--custom-filter", "a"], "write NAME='COMMAND'"), (["--custom-filter", "=cat"], "\"\" is not a name"),
        (["--custom-filter", "a b=cat"], "\"a b\" is not a name"), (["--custom-filter", "a="], "the command is empty"),
        (["--custom-filter", "a=no-such-program -x"], "no program \"no-such-program\" was found in PATH"),
        (["--custom-filter", "a=/none/x"], "/none/x does not exist or cannot be executed"),
        (["--custom-filter", "a=cat", "--custom-filter", "a=tac"], "--custom-filter a=...: the name was given before"),
        (["--custom-filter-style", "batch"], "--custom-filter-style"),
        (["--custom-filter-input", "jpeg"], "--custom-filter-input"),
        (["--custom-filter-memory", "1MiB"], "--custom-filter-memory 1MiB: at least 16"),
        (["--custom-filter-timeout", "1ms"], "--custom-filter-timeout 1ms: at least 1s"),
    ])
    func namesTheProblemBeforeAnythingRuns(_ options: [String], _ problem: String) throws {
        for command in [["worker"], ["run", TestFiles.samples, "-o", scratch.path("out")]] {
            let outcome = try Program(command + options).outcome()
            #expect(outcome.status == 64 || outcome.status == 2, "\(outcome)")
            #expect(outcome.standardError.contains(problem), "\(outcome.standardError)")
        }
        #expect(!scratch.exists("out"))
    }

    /// Each command of the chain writes the first bytes of its input to a file, and prints a JPEG.
    @Test(arguments: [("png", ["89504e47", "89504e47"]), ("bytes", ["ffd8ffe0", "ffd8ffe0", "68656c6c"])])
    func commandGetsPicturesOrAllBytes(_ input: String, _ beginnings: [String]) throws {
        try FileManager.default.createDirectory(atPath: scratch.path("in"), withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            atPath: "\(TestFiles.samples)/rocket.jpg", toPath: scratch.path("in/rocket.jpg"))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: scratch.path("in/words.jpg")))
        let command = "cat >p; head -c 4 p | od -An -tx1 | tr -d ' ' >>\(scratch.path("seen")); convert p jpg:-"
        let outcome = try Program([
            "run", scratch.path("in"), "-o", scratch.path("out"), "--custom-filter", "note=\(command)",
            "--custom-filter-input",
            input, "--filter", "x:note x:note", "--json",
        ]).outcome()
        let facts = try #require(try outcome.json() as? [String: Any], "\(outcome.standardError)")
        #expect((facts["counts"] as? [String: Int])?["filtered"] == 1, "\(facts)")
        let seen = try String(contentsOfFile: scratch.path("seen"), encoding: .utf8)
        #expect(seen.split(separator: "\n").map(String.init).sorted() == beginnings.sorted())
    }

    /// Without an encoding, a photo that is already a PNG file would keep its bytes. Both commands add their input to the
    /// same file.
    @Test(arguments: [[], ["--on-damaged", "accept"], ["--isolate"], ["--rendition", "small = x:copy x:note"]])
    func commandGetsNoBytesOfAPNG(_ options: [String]) throws {
        try FileManager.default.createDirectory(atPath: scratch.path("in"), withIntermediateDirectories: false)
        let photo = try Data(contentsOf: URL(fileURLWithPath: "\(TestFiles.samples)/moon.png"))
        let header = 33  // the signature and the chunk IHDR
        let text = Array("tEXtComment\0STRANGER".utf8)
        let chunk = [0, 0, 0, UInt8(text.count - 4)] + text + [0, 0, 0, 0]  // a wrong checksum, which loses no pixels
        let strange = photo.prefix(header) + chunk + photo.dropFirst(header) + Data("STRANGER".utf8)
        try strange.write(to: URL(fileURLWithPath: scratch.path("in/moon.png")))
        let command = "tee -a \(scratch.path("seen"))"
        let filters = options.contains("--rendition") ? [] : ["--filter", "x:copy x:note"]
        let outcome = try Program(
            [
                "run", scratch.path("in"), "-o", scratch.path("out"), "--custom-filter-input", "png", "--custom-filter",
                "copy=\(command)", "--custom-filter", "note=\(command)", "--json",
            ] + options + filters
        ).outcome()
        let facts = try #require(try outcome.json() as? [String: Any], "\(outcome.standardError)")
        #expect((facts["counts"] as? [String: Int])?["filtered"] == 1, "\(facts)")
        let seen = try Data(contentsOf: URL(fileURLWithPath: scratch.path("seen")))
        #expect(seen.starts(with: photo.prefix(8)), "\(seen.count) bytes")
        #expect(seen.range(of: Data("STRANGER".utf8)) == nil)
    }

    @Test func failureNamesTheFilterWhoseResultIsNoPicture() throws {
        let outcome = try Program([
            "run", TestFiles.samples, "-o", scratch.path("out"), "--custom-filter", "words=echo words", "--filter",
            "x:words sepia",
        ]).outcome()
        #expect(
            (outcome.standardOutput + outcome.standardError).contains("the result of custom filter words: "),
            "\(outcome)")
    }

    @Test func statusSaysWhichFilterIsMissing() throws {
        let queue = try Queue()
        let url = "file://\(TestFiles.samples)/moon.png"
        let id = try queue.submit([url]) { $0.filters = [.custom("wanted")] }
        let other = try queue.start("worker", "--custom-filter", "other=cat", "--files-under", TestFiles.samples)
        try other.waitFor("for x:wanted: registered with it are other")
        try waitUntil("the missing filter is shown") {
            let status = try queue.run("status", "\(id)")
            return (status.standardOutput + status.standardError).contains("has no custom filter \"wanted\"")
        }
        let worker = try queue.start("worker", "--custom-filter", "wanted=cat", "--files-under", TestFiles.samples)
        #expect(try queue.run("wait", "\(id)").status == 0)
        for program in [other, worker] {
            program.send(SIGTERM)
            #expect(try program.outcome().status == 0)
        }
    }

    @Test(arguments: ["process", "stream"]) func killedWorkerLeavesNoProcesses(_ style: String) throws {
        let queue = try Queue()
        try queue.submit(["file://\(TestFiles.samples)/moon.png", "file://\(TestFiles.samples)/rocket.jpg"]) {
            $0.filters = [.custom("hang")]
        }
        let mark = "OPERATION_TEST=\(UUID().uuidString)"
        let command = "export \(mark); touch file; setsid sh -c 'sleep 1000 & sleep 1000' & sleep 1000"
        let worker = try Program(
            [
                "worker", "--custom-filter", "hang=\(command)", "--custom-filter-style", style, "--files-under",
                TestFiles.samples,
                "--filtrations", "2", "--namespace", queue.namespace,
            ], environment: queue.environment.merging(["TMPDIR": scratch.path]) { own, _ in own })
        try waitUntil("the commands run: \(RunningProcess.having(mark))") { RunningProcess.having(mark).count >= 8 }
        #expect(try scratch.contents("").count { $0.hasPrefix("darkroom-command-") } == 2)
        worker.send(SIGKILL)
        _ = try worker.outcome()
        try waitUntil("the commands have ended: \(RunningProcess.having(mark))") { RunningProcess.having(mark).isEmpty }
        try waitUntil("their folders are removed") { try scratch.contents("").isEmpty }
    }
}
