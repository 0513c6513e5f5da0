import ArgumentParsing
import Darkroom
import DarkroomStore
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// `--limit` and `--sample` of `submit` and `run`.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct SelectionTests {

    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    private func list(_ count: Int) throws -> String {
        try scratch.write("list.txt", (0..<count).map { "http://photos.example/\($0).jpg\n" }.joined())
    }

    /// The names of the photos of a batch. Claims the operations of the batch, with the next claim number.
    private func files(of outcome: Program.Outcome, claim: Int = 1) throws -> [String] {
        let id = try #require(outcome.lines.first.flatMap { BatchID($0) }, "\(outcome)")
        let entries = try queue.claim(number: claim).filter { $0.held.batch == id }.map(\.entry)
        let records = try entries.flatMap { try OperationEntry.records(of: $0, firstIndex: 0) }
        return records.map { String($0.url.dropFirst("http://photos.example/".count)) }
    }

    @Test(arguments: [
        ("--limit 0", "--limit 0: at least 1"), ("--sample 0", "--sample 0: at least 1"),
        ("--limit -1", "--limit \"-1\": write a number"), ("--limit 2 --sample 2", "give only one of them"),
        ("--seed 1", "--seed: only with --sample\n"), ("--sample 2 --seed -1", "--seed -1: at least 0"),
    ])
    func badValueIsAUsageError(_ options: String, _ message: String) throws {
        for command in ["submit", "run"] {
            let arguments = [command, "list", "-o", "/out"] + options.split(separator: " ").map(String.init)
            let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(arguments) }
            #expect(end.code == .usage && end.standardError.contains(message), "\(end.standardError)")
        }
    }

    @Test(arguments: [["submit", "l", "--resume", "b"], ["retry", "b", "--list", "l"]])
    func sampleOfABatchNeedsItsSeed(_ arguments: [String]) throws {
        let end = try requireError(CommandExit.self) { try DarkroomProgram.parseAsRoot(arguments + ["--sample", "2"]) }
        #expect(end.code == .usage && end.standardError.contains("--sample: give the seed of the batch, with --seed\n"))
        #expect(throws: Never.self) { try DarkroomProgram.parseAsRoot(arguments + ["--sample", "2", "--seed", "1"]) }
    }

    @Test func submitTakesTheFirstPhotosAndResumesWithMore() throws {
        let submitted = try queue.run("submit", list(10), "-o", scratch.path("out"), "--limit", "3")
        let id = try #require(submitted.lines.first, "\(submitted)")
        #expect(try queue.store.batch(named: id).photos == 3)
        let longer = try queue.run("submit", list(10), "--resume", id, "--limit", "4")
        #expect(longer.status == 0, "\(longer)")
        #expect(try files(of: submitted) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"])
        let shorter = try queue.run("submit", list(10), "--resume", id, "--limit", "2")
        #expect(shorter.status == 1 && shorter.standardError.contains("it ends after 2 of the 4 photos"), "\(shorter)")
    }

    @Test func submitPrintsTheSeedOfASample() throws {
        let first = try queue.run("submit", list(100), "-o", scratch.path("a"), "--sample", "4")
        let seed = try #require(first.standardError.firstMatch(of: #/--seed (\d+) takes the same photos again/#)?.1)
        let taken = try files(of: first)
        #expect(taken.count == 4)
        let second = try queue.run("submit", list(100), "-o", scratch.path("b"), "--sample", "4", "--seed", "\(seed)")
        #expect(!second.standardError.contains("seed"), "a given seed is not printed")
        #expect(try files(of: second, claim: 2) == taken)
    }

    @Test func interruptedSubmitNamesTheSelection() throws {
        let program = try queue.start(
            "submit", list(10), "-o", scratch.path("out"), "--sample", "3", "--seed", "7", "--window", "1",
            "--operation-size", "1")
        try program.waitFor("\n", in: .standardOutput)  // the id of the batch
        program.insist(SIGINT)
        let outcome = try program.outcome()
        #expect(outcome.status == 130)
        let id = try #require(try queue.store.batchIDs().first)
        #expect(outcome.standardError.contains("--resume \(id) --sample 3 --seed 7"), "\(outcome.standardError)")
    }

    private func run(_ arguments: String...) throws -> Program.Outcome {
        try FileManager.default.createDirectory(atPath: scratch.path("run"), withIntermediateDirectories: true)
        return try Program(
            ["run", TestFiles.samples, "-o", scratch.path("out")] + arguments,
            environment: ["XDG_RUNTIME_DIR": scratch.path("run")]
        ).outcome()
    }

    private func photos() throws -> [String] { try scratch.contents("out").filter { $0 != "manifest" } }

    @Test func runOfTheWholeListContinuesARunOfTheFirstPhotos() throws {
        #expect(try run("--limit", "2").standardOutput.contains("2 photos: 2 filtered"))
        let first = try photos()
        #expect(first == ["000000-astronaut.jpg", "000001-chelsea.jpg"])
        #expect(try run("--limit", "2").standardOutput.contains("nothing to do"))
        #expect(try run("--limit", "3").standardOutput.contains("3 photos: 3 filtered"))
        let whole = try run()
        #expect(whole.standardOutput.contains("9 photos: 9 filtered"), "\(whole)")
        #expect(try Array(photos().prefix(2)) == first && photos().count == 9)
    }

    @Test func runContinuesWithTheSampleOfTheEarlierRun() throws {
        #expect(try run("--sample", "3").standardOutput.contains("3 photos: 3 filtered"))
        let first = try photos()
        #expect(try run("--sample", "3").standardOutput.contains("nothing to do"))
        #expect(try photos() == first)
        for other in [[], ["--sample", "4"], ["--sample", "3", "--seed", "1"]] {
            let refused = try Program(["run", TestFiles.samples, "-o", scratch.path("out")] + other).outcome()
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.standardError.contains("the sample then 3 with the seed "), "\(refused)")
        }
    }
}
