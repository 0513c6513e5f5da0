import Darkroom
import DarkroomStorage
import DarkroomTestSupport
import Foundation
import Testing

/// The effects of a cancel on the feeder of the batch, and on the listings of its photos and operations.
@Suite(.redisServer(arguments: ["--appendonly", "yes"]), .timeLimit(.minutes(5))) struct CancelledBatchTests {
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    func list(_ count: Int) throws -> String {
        try scratch.write("list.txt", (0..<count).map { "http://photos.example/\($0).jpg\n" }.joined())
    }

    /// Starts to submit a list that exceeds the window. Returns the program and the batch once the window is full.
    func submit(_ more: String...) throws -> (feeding: Program, batch: BatchID) {
        let arguments = ["submit", try list(400), "-o", scratch.path("out"), "--window", "3"] + more
        let feeding = try Program(arguments + ["--namespace", queue.namespace], environment: queue.environment)
        try feeding.waitFor("no running worker")
        return (feeding, try #require(queue.store.batchIDs().first))
    }

    @Test(arguments: [[], ["--wait"], ["--json"]]) func endsItsFeederWithStatus4(_ more: [String]) throws {
        let (feeding, batch) = try more.isEmpty ? submit() : submit(more[0])
        // Without `--wait`, the feeder does not wait for executing operations.
        if more != ["--wait"] { #expect(try queue.claim(operations: 1).count == 1) }
        #expect(try queue.run("cancel", "\(batch)").status == 0)
        let outcome = try feeding.outcome()
        #expect(outcome.status == 4, "\(outcome)")
        #expect(
            outcome.standardError.contains(
                "batch \(batch) was cancelled while it was fed: 150 photos of the list were fed, nothing more will be"))
        #expect(!outcome.standardError.contains("--resume"), "a cancelled batch cannot be resumed")
        #expect(outcome.lines.count == 1)
        if more == ["--json"] {
            let facts = try #require(try outcome.json() as? [String: Any])
            #expect(facts["cancelled"] as? Bool == true && facts["photos"] as? Int == 150)
        } else {
            #expect(outcome.standardOutput == "\(batch)\n")
        }
    }

    @Test func endsAFeederThatWaitsForInput() throws {
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // `O_RDWR` opens both ends of the pipe, so that no later open(2) of either end blocks.
        let descriptor = open(pipe, O_RDWR)
        defer { close(descriptor) }
        let feeding = try Program(
            ["submit", "-", "-o", scratch.path("out"), "--namespace", queue.namespace],
            environment: queue.environment, input: pipe)
        // The list is longer than the buffer of the pipe, and than the 64 KiB from which `submit` detects the format.
        let photos = Array((0..<3000).map { "http://photos.example/\($0).jpg\n" }.joined().utf8)
        #expect(write(descriptor, photos, photos.count) == photos.count)
        try feeding.waitFor("no running worker")
        let batch = try #require(try queue.store.batchIDs().first)
        #expect(try queue.run("cancel", "\(batch)").status == 0)
        #expect(try feeding.outcome().status == 4)
    }

    @Test func isNotResumed() throws {
        let id = try #require(try queue.run("submit", list(10), "-o", scratch.path("out")).lines.first)
        #expect(try queue.run("cancel", id).status == 0)
        let outcome = try queue.run("submit", list(10), "--resume", id)
        #expect(outcome.status == 1 && outcome.standardOutput.isEmpty, "\(outcome)")
        let advice = "was cancelled: it takes no more photos, and those it has do not run; submit the list again"
        #expect(outcome.standardError.contains("batch \(id) \(advice)"), "\(outcome.standardError)")
        #expect(!outcome.standardError.contains("is not complete"))
    }

    @Test func feederReportsTheReasonOfTheCancel() throws {
        let first = try #require(
            try queue.run("submit", list(10), "-o", scratch.path("1"), "--name", "first").lines.first)
        #expect(try queue.run("cancel", "first").status == 0)
        let outcome = try queue.run(
            "submit", list(10), "-o", scratch.path("2"), "--after", "first", "--after-success")
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.standardError.contains("(\(first) did not succeed): 0 photos of the list were fed"))
    }

    @Test func unfinishedPhotosAreShownAsCancelled() throws {
        let id = try queue.submit((0..<8).map { "http://photos.example/\($0)" }) { $0.operationSize = 4 }
        let claimed = try queue.claim(operations: 1)
        let held = try #require(claimed.first).held
        let report = queue.store.report(held, worker: "tester", stateCodes: Array("FiDN".utf8), bytesIn: 0, bytesOut: 0)
        _ = try queue.store.perform(report)
        _ = try queue.store.perform(queue.store.cancel(id))

        let operations = try queue.run("operations", "\(id)")
        #expect(
            operations.lines == ["1\texecuting\t0\t4\t4\t1\t0\ttester", "2\tended\t4\t4\t4\t0\t0\t"], "\(operations)")
        let json = try #require(try queue.run("operations", "\(id)", "--json").json() as? [[String: Any]])
        #expect(
            json.map { $0["counts"] as? [String: Int] } == [
                ["new": 0, "downloaded": 0, "filtered": 1, "failed": 1, "cancelled": 2],
                ["new": 0, "downloaded": 0, "filtered": 0, "failed": 0, "cancelled": 4],
            ])
        let states = try queue.run("photos", "\(id)").lines.map { $0.split(separator: "\t")[1] }
        #expect(states == ["filtered", "failed"] + Array(repeating: "cancelled", count: 6))
        #expect(try queue.run("photos", "\(id)", "--state", "new", "--state", "downloaded").lines.isEmpty)
    }

    @Test func writtenPhotoKeepsItsManifestLine() throws {
        let id = try queue.submit((0..<3).map { "http://photos.example/\($0)" })
        let held = try #require(try queue.claim().first).held
        // The worker has written this photo, but the batch is cancelled before the worker reports it.
        let record = PhotoRecord(index: 1, name: "photo 1", url: "http://photos.example/1")
        var line = ManifestLine(batch: id, record: record, state: .filtered)
        line.file = "000001-photo 1.jpg"
        var text: [UInt8] = []
        line.append(to: &text)
        let name = ManifestPath.fileName(operation: 1, fencingToken: held.fencingToken)
        try Data(text).write(to: URL(fileURLWithPath: "\(queue.folder)/\(ManifestPath.folder(id))/\(name)"))
        _ = try queue.store.perform(queue.store.cancel(id))
        _ = try queue.store.perform(queue.store.release(held, worker: "tester"))
        #expect(try queue.store.facts(of: id)?.state == .finished)

        let outcome = try queue.run("photos", "\(id)")
        #expect(
            outcome.lines == [
                "0\tcancelled\t\t\t\t\t", "1\tcancelled\t\tphoto 1\t000001-photo 1.jpg\thttp://photos.example/1\t",
                "2\tcancelled\t\t\t\t\t",
            ], "\(outcome)")
        #expect(
            outcome.standardError.contains(
                "the batch was cancelled before they started, and Redis no longer has their entries"))
    }

    @Test func photosWithKeptOriginalsStayDownloaded() throws {
        let id = try queue.submit((0..<4).map { "http://photos.example/\($0)" }) {
            $0.originals = self.scratch.path("o")
        }
        let held = try #require(try queue.claim().first).held
        let report = queue.store.report(held, worker: "tester", stateCodes: Array("DDNF".utf8), bytesIn: 0, bytesOut: 0)
        _ = try queue.store.perform(report)
        _ = try queue.store.perform(queue.store.release(held, worker: "tester"))
        #expect(try queue.run("operations", "\(id)").lines == ["1\tqueued\t0\t4\t1\t0\t0\t"])
        let photos = try queue.run("photos", "\(id)", "--state", "downloaded")
        #expect(
            photos.lines == (0..<2).map { "\($0)\tdownloaded\t\tphoto \($0)\t\thttp://photos.example/\($0)\t" },
            "\(photos)")
        #expect(photos.standardError.isEmpty)
    }
}
