import Darkroom
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `batches`, `status`, `operations` and `forget`, on a real Redis server.
@Suite(.redisServer, .serialized)
struct BatchCommandTests {
    private static let urls = ["http://h/0", "NO URL", "http://h/2", "http://h/3"]

    @Test func statusHasTheFactsOfABatch() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.name = "holidays" }
        try queue.develop("FaFi")
        let outcome = try queue.run("status", "holidays", "--json")
        #expect(outcome.status == 0 && outcome.standardError.isEmpty)
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(
            Set(facts.keys) == [
                "id", "name", "state", "suspended", "cancelled", "priority", "photos", "operations", "counts",
                "failures", "bytesIn", "bytesOut", "lostGainMaps", "submitted", "started", "finished", "seconds",
                "photosPerSecond", "filters", "encoding", "renditions", "onDamaged", "acceptsDamage", "keepsAnimations",
                "keepsTimes", "output", "downloadsSuspended", "filtrationsSuspended", "secondsLeft", "problems",
                "round", "sealed", "hosts", "waitedFor",
            ])
        #expect(facts["id"] as? String == id.description)
        #expect(facts["state"] as? String == "finished")
        #expect(facts["photos"] as? Int == 4 && facts["operations"] as? Int == 1)
        #expect(
            facts["counts"] as? [String: Int] == [
                "new": 0, "downloaded": 0, "filtered": 2, "failed": 2, "cancelled": 0,
            ])
        #expect(facts["failures"] as? [String: Int] == ["not-a-url": 1, "http-4xx": 1])
        #expect(facts["bytesIn"] as? Int == 4000 && facts["bytesOut"] as? Int == 2000)
        #expect(facts["filters"] as? [String] == [])
        #expect(facts["output"] as? String == queue.folder)
        let finished = try #require(facts["finished"] as? String)
        #expect(finished.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)

        let plain = try queue.run("status", String(id.description.dropLast(2)))
        #expect(plain.lines.contains("state\tfinished"))
        #expect(plain.lines.contains("failed\t2 (50 %)"))
        #expect(plain.lines.contains("not-a-url\t1"))
    }

    @Test func onlyTheNewestBatchesAreListed() throws {
        let queue = try Queue()
        let ids = try (0..<3).map { try queue.submit(["http://photos.example/\($0)"]) }
        let outcome = try queue.run("batches", "--limit", "2")
        #expect(outcome.lines.count == 2)
        #expect(outcome.lines[0].hasPrefix("\(ids[1])") && outcome.lines[1].hasPrefix("\(ids[2])"))
        #expect(outcome.standardError.hasPrefix("1 earlier batch not listed (--limit 3 lists all)\n"))
        #expect(try queue.run("batches").lines.count == 3)
    }

    @Test func batchesAreListedInOrderOfSubmission() throws {
        let queue = try Queue()
        let first = try queue.submit(Self.urls)
        try queue.develop("F")
        let second = try queue.submit(Self.urls) { $0.name = "b\tb" }
        let lines = try queue.run("batches").lines
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("\(first)\tfinished\t4\t4\t0\t0\t"))
        #expect(lines[1] == "\(second)\tready\t4\t0\t0\t0\t\tnormal\tb\\tb\t")
        let json = try #require(try queue.run("batches", "--json").json() as? [[String: Any]])
        #expect(json.map { $0["id"] as? String } == [first.description, second.description])
        #expect(json[1]["finished"] is NSNull && json[1]["photosPerSecond"] is NSNull)
    }

    @Test func statusWithoutABatchShowsTheCluster() throws {
        let queue = try Queue()
        try queue.submit(Self.urls)
        try queue.develop("FaFF")
        try queue.submit(Self.urls)
        let facts: [(String, String)] = [("host", "h"), ("rate", "12"), ("downloading", "3"), ("filtering", "2")]
        _ = try queue.store.perform(queue.store.heartbeat(worker: "w1", facts: facts))
        _ = try queue.store.perform(queue.store.heartbeat(worker: "w2", facts: facts))
        let json = try #require(try queue.run("status", "--json").json() as? [String: Any])
        #expect(json["batches"] as? [String: Int] == ["waiting": 0, "ready": 1, "executing": 0, "finished": 1])
        #expect(json["operations"] as? [String: Int] == ["queued": 1, "executing": 0])
        // The third worker is "tester", which claimed the operation.
        #expect(json["workers"] as? Int == 3 && json["photosPerSecond"] as? Int == 24)
        #expect(json["photos"] as? Int == 4)
        #expect(try queue.run("status").lines.contains("running\t6 downloads, 4 filtrations"))
    }

    @Test func statusReportsThatNoRunningWorkerTakesABatch() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let nobody = try queue.run("status", "\(id)").standardError
        #expect(nobody.contains("no running worker takes it: there is no worker; start one with: darkroom worker"))

        let refused = "20250101-000000000-0000: its share; is it mounted?; \(id): its output is elsewhere"
        _ = try queue.store.perform(queue.store.heartbeat(worker: "w", facts: [("refused", refused)]))
        let warning = try queue.run("status", "\(id)").standardError
        #expect(warning.contains("no running worker takes it: 1 worker refused it: its output is elsewhere; start"))

        _ = try queue.store.perform(queue.store.heartbeat(worker: "v", facts: [("refused", "")]))
        let quiet = try queue.run("status", "\(id)").standardError
        #expect(quiet.isEmpty, "\(quiet)")
    }

    @Test func jsonHasTheProblemsOfABatch() throws {
        let queue = try Queue()
        let first = try queue.submit(Self.urls)
        let second = try queue.submit(Self.urls)
        #expect(try queue.run("suspend", "\(first)").status == 0)
        #expect(try queue.run("depend", "\(second)", "--on", "\(first)").status == 0)
        func codes(_ facts: Any) throws -> [String] {
            let problems = try #require((facts as? [String: Any])?["problems"] as? [[String: String]])
            #expect(problems.allSatisfy { Set($0.keys) == ["code", "text", "remedy"] })
            return problems.compactMap { $0["code"] }
        }
        #expect(try codes(queue.run("status", "\(first)", "--json").json()) == ["suspended"])
        #expect(try codes(queue.run("status", "\(second)", "--json").json()) == ["dependency-stuck"])
        let all = try #require(try queue.run("batches", "--json").json() as? [Any])
        #expect(try all.map(codes) == [["suspended"], ["dependency-stuck"]])
        let waited = try #require(try queue.run("wait", "--json", "--timeout", "1ms").json() as? [Any])
        #expect(try waited.map(codes) == [["suspended"], ["dependency-stuck"]])
        let cluster = try #require(try queue.run("status", "--json").json() as? [String: Any])
        let problems = try #require(cluster["problems"] as? [[String: String]])
        #expect(problems.map { $0["batch"] } == ["\(first)"])
    }

    @Test func showsTheRemainingTimeUnlessTheBatchIsSuspended() throws {
        let queue = try Queue()
        let id = try queue.submit((0..<8).map { "http://h/\($0)" }) { $0.operationSize = 2 }
        _ = try queue.store.perform(
            queue.store.report(
                queue.claim(operations: 1)[0].held, worker: "tester",
                stateCodes: Array("FF".utf8), bytesIn: 1, bytesOut: 1))
        // In the last 10 s of work, 2 photos were filtered.
        let pace = "\(try queue.store.time()) 2 10000 2"
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "pace", pace))
        let left = try #require((try queue.run("status", "\(id)", "--json").json() as? [String: Any])?["secondsLeft"])
        let seconds = try #require(left as? Double)
        #expect(seconds >= 30 && seconds < 300)
        #expect(try queue.run("status", "\(id)").lines.contains { $0.hasPrefix("left\t") })
        #expect(try queue.run("suspend", "\(id)").status == 0)
        #expect(!(try queue.run("status", "\(id)").lines.contains { $0.hasPrefix("left\t") }))
        let json = try queue.run("status", "\(id)", "--json").json() as? [String: Any]
        #expect(json?["secondsLeft"] is NSNull)
    }

    @Test func statusReportsASilentFeeder() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls, seal: false)
        try queue.develop("F")
        let quiet = try queue.run("status", "\(id)").standardError
        #expect(quiet.isEmpty, "\(quiet)")
        let long = String(try queue.store.time() - 35_000)
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "feeder.seen", long))
        let warning = try queue.run("status", "\(id)").standardError
        #expect(
            warning.contains(#/its feeder has been silent for [34]\d\.\d s/#) && warning.contains("4 photos are fed"))
        #expect(warning.contains("darkroom submit LIST --resume \(id)"))
    }

    @Test func operationsAreListedWithTheirWorkers() throws {
        let queue = try Queue()
        let id = try queue.submit((0..<5).map { "http://photos.example/\($0)" }) { $0.operationSize = 2 }
        let claimed = try queue.claim("w1", operations: 2)
        _ = try queue.store.perform(
            queue.store.report(claimed[0].held, worker: "w1", stateCodes: Array("Fp".utf8), bytesIn: 1, bytesOut: 1))
        #expect(
            try queue.run("operations", "\(id)").lines == [
                "1\tended\t0\t2\t2\t1\t0\t", "2\texecuting\t2\t2\t0\t0\t0\tw1", "3\tqueued\t4\t1\t0\t0\t0\t",
            ])
        let json = try #require(try queue.run("operations", "\(id)", "--json").json() as? [[String: Any]])
        #expect(json.map { $0["worker"] as? String } == [nil, "w1", nil])
    }

    @Test func forgetRemovesFinishedBatches() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let refusal = try queue.run("forget", "\(id)")
        #expect(refusal.status == 1)
        #expect(refusal.standardError.contains("has not finished: 4 of its 4 photos are not done"))
        #expect(refusal.standardError.contains("--force"))
        try queue.develop("F")
        #expect(try queue.run("forget", "\(id)").status == 0)
        #expect(try queue.store.batchIDs().isEmpty)
    }

    @Test func forgetWithForceRemovesExecutingBatches() throws {
        let queue = try Queue()
        let id = try queue.submit((0..<300).map { "http://photos.example/\($0)" }) { $0.operationSize = 1 }
        var held: [HeldOperation] = []
        for number in 1...16 { held += try queue.claim(number: number).map(\.held) }
        #expect(held.count > 200)
        #expect(try queue.run("forget", "\(id)", "--force").status == 0)
        let left = try queue.store.connection.call(.init("KEYS", queue.store.keys.prefix + "batch:*")).array
        #expect(left == [])
        #expect(try queue.store.perform(queue.store.release(held[0], worker: "tester")) == .gone)
    }

    @Test func silentWorkerIsShownAsLost() throws {
        let queue = try Queue()
        for worker in ["running", "lost"] {
            _ = try queue.store.perform(queue.store.heartbeat(worker: worker, facts: [("host", "h")]))
        }
        let silent = "\(try queue.store.time() - 60_000)"
        _ = try queue.store.connection.call(.init("ZADD", queue.store.keys.workers, silent, "lost"))
        let lines = try queue.run("workers").lines
        #expect(lines.count == 2 && lines[0].hasPrefix("running\th\t\t") && !lines[0].contains("lost"))
        #expect(lines[1].hasPrefix("lost\th\t\tlost, 1m 0"), "\(lines)")
    }

    @Test func shownCommandsAreQuotedForAShell() throws {
        let batch = try #require(
            BatchFacts(
                id: BatchID("20261121-090501123-7f3a"), fields: ["state": "finished", "output": "/mnt/my photos/it's"],
                reasons: [:]))
        #expect(
            BatchSummary(batch, now: 0).lines.last
                == #"to list each photo: darkroom manifest '/mnt/my photos/it'\''s'"#)
    }

    @Test func missingAndAmbiguousBatchesAreErrors() throws {
        let queue = try Queue()
        let none = try queue.run("status", "nothing")
        #expect(none.status == 1)
        let advice = "there is no batch at all; \"darkroom batches\" lists them"
        #expect(none.standardError == "error: no batch \"nothing\": \(advice)\n")
        for _ in 0..<2 { try queue.submit(Self.urls) }
        let ids = try queue.store.batchIDs()  // in the order of the listing, even within one millisecond
        for command in ["status", "photos", "operations", "forget", "wait"] {
            let missing = try queue.run(command, "nothing")
            #expect(missing.status == 1)
            #expect(missing.standardError.contains("no batch \"nothing\": the newest are \(ids[0]), \(ids[1])"))
            let ambiguous = try queue.run(command, String(ids[0].description.prefix(6)))
            #expect(ambiguous.status == 1)
            #expect(ambiguous.standardError.contains("names 2 batches (\(ids[0]), \(ids[1])); give more of the id"))
        }
    }
}
