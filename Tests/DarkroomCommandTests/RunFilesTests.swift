import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// The local files that `run` reads.
@Suite(.timeLimit(.minutes(5))) struct RunFilesTests {
    private static let samples = TestFiles.samples
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func run(_ list: String, _ more: String..., input: String? = nil) throws -> Program.Outcome {
        let words = ["run", list, "-o", scratch.path("out")] + more
        guard let input else { return try Program(words).outcome() }
        let command = words.map { "'\($0)'" }.joined(separator: " ")
        let process = try BoundProcess(
            ["sh", "-c", "cd '\(scratch.path(""))' && \(input) | exec '\(Program.executable.path)' \(command)"],
            log: scratch.path("log"))
        #expect(process.wait(within: .seconds(60)))
        let log = try String(contentsOfFile: scratch.path("log"), encoding: .utf8)
        return Program.Outcome(status: process.exitStatus ?? -1, standardOutput: log, standardError: log)
    }

    /// A list may name files in any folder, first or later, with and without a folder that is missing.
    @Test(arguments: [
        "SAMPLES/coffee.jpg\n", "SAMPLES/coffee.jpg\nnear.jpg\n", "near.jpg\nSAMPLES/coffee.jpg\n",
        "../SCRATCH/far/a.jpg\nfile://SAMPLES/coffee.jpg\n", "name,url\na,SAMPLES/coffee.jpg\n",
        #"[{"url": "SAMPLES/coffee.jpg"}]"#, #"{"url": "file://SAMPLES/coffee.jpg"}"# + "\n",
    ])
    func filesOfALocalListAreRead(list: String) throws {
        _ = try scratch.write("near.jpg", RunCommandTests.photo)
        try scratch.makeFolder("far")
        _ = try scratch.write("far/a.jpg", RunCommandTests.photo)
        let text = list.replacing("SAMPLES", with: Self.samples)
            .replacing("SCRATCH", with: URL(fileURLWithPath: scratch.path("")).lastPathComponent)
        let kind = list.hasPrefix("name") ? "csv" : list.hasPrefix("[") ? "json" : list.hasPrefix("{") ? "jsonl" : "txt"
        let outcome = try run(try scratch.write("list.\(kind)", text))
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test func filesOfAMissingFolderFailAlone() throws {
        let list = try scratch.write("list.txt", "/nowhere/at/all/a.jpg\n\(Self.samples)/coffee.jpg\n")
        let outcome = try run(list, "--json")
        #expect(outcome.status == 3, "\(outcome)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["failures"] as? [String: Int] == ["file-not-found": 1])
    }

    @Test func standardInputMayNameFiles() throws {
        _ = try scratch.write("near.jpg", RunCommandTests.photo)
        let outcome = try run("-", input: "{ ls | grep jpg; echo '\(Self.samples)/coffee.jpg'; }")
        #expect(outcome.status == 0, "\(outcome)")
    }

    /// A list at an address names files of this machine only with `--files-under`; a dry run says so.
    @Test func listOnTheWebNamesNoFiles() throws {
        let near = try scratch.write("near.jpg", RunCommandTests.photo)
        let text = "file://\(near)\nfile://\(Self.samples)/coffee.jpg\n"
        let server = try HostileServer(["/list.txt": .answer(body: Array(text.utf8))])
        defer { server.stop() }
        let plan = try run(server.url("/list.txt"), "--dry-run", "--json")
        let planned = try #require(try plan.json() as? [String: Any])
        #expect(planned["failures"] as? [String: Int] == ["file-denied": 2], "\(plan)")
        let allowed = try run(server.url("/list.txt"), "--dry-run", "--json", "--files-under", scratch.path(""))
        let fewer = try #require(try allowed.json() as? [String: Any])
        #expect(fewer["failures"] as? [String: Int] == ["file-denied": 1], "\(allowed)")
        let outcome = try run(server.url("/list.txt"), "--json", "--files-under", scratch.path(""))
        #expect(outcome.status == 3, "\(outcome)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["failures"] as? [String: Int] == ["file-denied": 1])
    }

    /// A refusal of the only worker ends the command with the reason.
    @Test func refusalOfTheOnlyWorkerEndsTheRun() async throws {
        let server = try HostileServer(["/0.jpg": .held(.answer(body: RunCommandTests.photo))])
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("/0.jpg\n"))
        let run = try Program(["run", list, "-o", scratch.path("out"), "--allow-private"])
        #expect(await server.wait { log in log.requests.count == 1 })
        // Another batch takes the output folder, so that the worker refuses the batch of the run.
        let url = try String(contentsOfFile: scratch.path("out/.darkroom/redis.url"), encoding: .utf8)
        let other = try Program.run(
            "submit", list, "-o", scratch.path("out"), "--overwrite", "--redis", url.trimmingCharacters(in: .newlines))
        #expect(other.status == 0, "\(other)")
        server.release()
        let outcome = try run.outcome()
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.standardError.contains("has taken the folder"), "\(outcome)")
    }
}
