import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

/// `darkroom hosts`, with a real worker and with facts that no worker has written.
@Suite(.redisServer, .serialized) struct HostsCommandTests {
    private func hosts(_ outcome: Program.Outcome) throws -> [[String: Any]] {
        let list = try outcome.json() as? [String: Any]
        return try #require(list?["hosts"] as? [[String: Any]])
    }

    @Test func hostsOfARunningWorkerAreShown() throws {
        let queue = try Queue()
        #expect(try queue.run("hosts").standardError.contains("There is no running worker."))
        let busy = (0..<5).map { "/busy\($0).jpg" }
        let refusal = HostileServer.Route.answer(status: 429, headers: ["Retry-After: 900"])
        var routes = Dictionary(uniqueKeysWithValues: busy.map { ($0, refusal) })
        routes["/b.jpg"] = .answer(body: [1])
        let server = try HostileServer(routes)
        defer { server.stop() }
        let urls = busy.map(server.url) + ["http://localhost:\(server.port)/gone.jpg"]
        let first = try queue.submit(urls)
        let second = try queue.submit(["http://localhost:\(server.port)/b.jpg"]) { $0.output = "" }
        let worker = try queue.start(
            "worker", "--allow-private", "--patience", "1h", "--outputs-under", queue.folder, "--grace", "0s")
        var found: [[String: Any]] = []
        try waitUntil("the worker has told its hosts: \(found)") {
            found = try hosts(try queue.run("hosts", "--json"))
            return found.first?["waiting"] as? Int == 5 && found.last?["downloaded"] as? Int == 1
        }
        #expect(found.map { $0["host"] as? String } == ["127.0.0.1", "localhost"])
        #expect(found.map { $0["state"] as? String } == ["paused", "up"])
        #expect(found.first?["secondsToNextTry"] as? Double ?? 0 > 60)
        #expect((found.last?["failures"] as? [String: Int]) == ["http-4xx": 1])
        #expect(found.last?["firstByteMedian"] as? Double ?? 0 > 0)

        let table = try queue.run("hosts", "\(first)")
        let row = try #require(table.lines.first).split(separator: "\t", omittingEmptySubsequences: false)
        #expect(row.first == "127.0.0.1" && row[1].hasPrefix("paused, next try in ") && row[2] == "5")
        #expect(row.last?.contains("--rate") == true)
        #expect(table.lines.count == 2)
        #expect(try hosts(try queue.run("hosts", "\(second)", "--json")).map { $0["host"] as? String } == ["localhost"])
        #expect(try queue.run("hosts", "nothing").status == 1)
        try checkStatus(queue, first)
        worker.insist(SIGTERM)
        _ = try worker.outcome()
    }

    /// The status of a batch names the host for which its photos wait.
    private func checkStatus(_ queue: Queue, _ batch: BatchID) throws {
        let line = try #require(try queue.run("status", "\(batch)").lines.first { $0.hasPrefix("waiting\t") })
        #expect(line.hasPrefix("waiting\t5 photos wait for 127.0.0.1, next try in "))
        #expect(try queue.run("status").lines.contains { $0.hasPrefix("waiting\t5 photos wait for 127.0.0.1, ") })
        var texts: [String] = []
        try waitUntil("the batch has a problem") {
            let facts = try queue.run("status", "\(batch)", "--json").json() as? [String: Any]
            texts = (facts?["problems"] as? [[String: String]] ?? []).compactMap { $0["text"] }
            return !texts.isEmpty
        }
        var waited: String?
        try waitUntil("the status tells what the batch waited for") {
            waited = try queue.run("status", "\(batch)").lines.first { $0.hasPrefix("waited for\t") }
            return waited != nil
        }
        #expect(waited?.hasPrefix("waited for\tthe host 127.0.0.1 (") == true, "\(waited ?? "nothing")")
        let facts = try queue.run("status", "\(batch)", "--json").json() as? [String: Any]
        #expect((facts?["waitedFor"] as? [String: Any])?["resource"] as? String == "host")
        #expect(texts.first?.hasPrefix("it waits for 127.0.0.1: paused, 5 photos, next try in ") == true, "\(texts)")
    }

    @Test func plantedFactsCannotHarmATerminal() throws {
        let queue = try Queue()
        let id = try queue.submit(["http://h/a.jpg"])
        _ = try queue.store.perform(
            queue.store.heartbeat(
                worker: "planted",
                facts: [
                    (
                        "hosts",
                        "\(id);\u{1b}]0;owned\u{7}.example down 1 1 1 1 - - - - 0:9:0:;ok.example down 1 9000 1 1 - - - - 0:7:0:;"
                            + "a\u{202e}b up 0 - 0 4 - - - - 0:1:1:"
                    )
                ]))
        let outcome = try queue.run("hosts")
        #expect(outcome.lines.count == 1 && outcome.lines[0].hasPrefix("ok.example\tdown for "))
        let planted = String(repeating: "\u{1b}", count: 3999)
        _ = try queue.store.perform(queue.store.heartbeat(worker: "planted", facts: [("hosts", planted)]))
        let empty = try queue.run("hosts", "\(id)")
        #expect(empty.status == 0 && empty.standardOutput.isEmpty)
        #expect(empty.standardError.contains("No running worker has downloaded photos of this batch"))
    }
}
