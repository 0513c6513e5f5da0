import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// What the commands show about batches that make no progress.
@Suite(.redisServer, .serialized) struct StallTests {
    private func problems(_ facts: Any?) -> [String] {
        ((facts as? [String: Any])?["problems"] as? [[String: String]] ?? []).compactMap { $0["code"] }
    }

    @Test func batchThatWaitsForAHostIsExplainedEverywhere() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/stall.jpg": .stall])
        defer { server.stop() }
        let first = try queue.submit([server.url("/stall.jpg")])
        let worker = try queue.start(
            "worker", "--allow-private", "--per-host", "1", "--outputs-under", queue.folder, "--grace", "0s")
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        let second = try queue.submit((0..<3).map { server.url("/\($0).jpg") }) { $0.output = "" }
        func codes() throws -> [BatchProblem.Code] {
            let facts = try #require(try queue.store.facts(of: second))
            return try queue.store.problems(of: [facts], now: try queue.store.time()).of(facts).map(\.code)
        }
        try waitUntil("the batch has a problem") { try codes() == [.waitsForHost] }
        #expect(problems(try queue.run("status", "\(second)", "--json").json()) == ["waits-for-host"])
        let sentence =
            "wait for connections to 127.0.0.1, which batch \(first) uses; it goes on after that batch; "
            + "to run it first: darkroom prioritize \(second) high"
        let status = try queue.run("status", "\(second)")
        #expect(status.lines.contains("state\tready"), "\(status.standardOutput)")
        #expect(!status.lines.contains { $0.hasPrefix("left\t") })
        #expect(status.standardError.contains(sentence), "\(status.standardError)")
        let batches = try queue.run("batches")
        #expect(batches.lines.contains { $0.hasPrefix("\(second)\tready\t") }, "\(batches.standardOutput)")
        #expect(batches.lines.contains { $0.hasPrefix("\(first)\texecuting\t") }, "\(batches.standardOutput)")
        #expect(batches.standardError.contains(sentence))
        let all = try #require(try queue.run("batches", "--json").json() as? [[String: Any]])
        #expect(all.map { $0["state"] as? String } == ["executing", "ready"])
        #expect(all.map(problems) == [[], ["waits-for-host"]])
        #expect(try queue.run("focus", "\(second)", "--photos", "1").standardError.contains(sentence))
        #expect(try queue.run("wait", "\(second)", "--timeout", "1ms").standardError.contains(sentence))
        let watch = try queue.start("watch", "\(second)")
        try watch.waitFor(sentence, in: .standardOutput)
        watch.insist(SIGINT)
        worker.insist(SIGTERM)
        _ = try worker.outcome()
    }

    @Test func submissionIntoAFolderThatNoWorkerMayWriteSaysSo() throws {
        let queue = try Queue()
        let other = try ScratchFolder()
        let worker = try queue.start("worker", "--outputs-under", queue.folder)
        try worker.waitFor("worker started worker=")
        let list = "\(queue.folder)/list.txt"
        try "http://127.0.0.1:9/a.jpg\n".write(toFile: list, atomically: true, encoding: .utf8)
        try waitUntil("the first heartbeat tells the folders") {
            try queue.store.workers().first?.fields["outputs.under"] != nil
        }
        let submitted = try queue.run("submit", list, "--output", "\(other.path)/out")
        #expect(submitted.status == 0)
        #expect(
            submitted.standardError.contains(
                "no running worker takes it: 1 worker refused it: its output \(other.path)/out is not in a folder "
                    + "to which this worker may write; start a worker with --outputs-under"),
            "\(submitted.standardError)")
        worker.insist(SIGTERM)
        _ = try worker.outcome()
    }

    @Test func batchesShowsThatNoWorkerTakesABatch() throws {
        let queue = try Queue()
        let id = try queue.submit(["http://h/a.jpg"])
        let batches = try queue.run("batches")
        #expect(batches.standardError.contains("warning: batch \(id): no running worker takes it: there is no worker"))
    }
}
