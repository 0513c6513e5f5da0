import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `depend`, on a real Redis server.
@Suite(.redisServer, .serialized)
struct DependCommandTests {
    private static let urls = (0..<4).map { "http://photos.example/\($0)" }

    @Test func batchWaitsForOthers() throws {
        let queue = try Queue()
        let done = try queue.submit(Self.urls)
        try queue.develop("F")
        let first = try queue.submit(Self.urls) { $0.name = "first" }
        let second = try queue.submit(Self.urls)
        let last = try queue.submit(Self.urls) { $0.name = "last" }
        let label = "batch \(last) \"last\""
        let made = try queue.run("depend", "last", "--on", "first", "--on", "first")
        #expect(made.status == 0 && made.standardOutput == "\(label) waits for \(first) \"first\"\n")
        let more = try queue.run("depend", "last", "--on", "first", "--on", "\(second)", "--on", "\(done)", "--json")
        #expect(more.status == 0)
        #expect(
            more.standardError == "\(label) waits for \(second); waited for \(first) \"first\" already; "
                + "need not wait for \(done): finished already\n")
        let facts = try #require(try more.json() as? [String: Any])
        #expect(facts["state"] as? String == "waiting")
        // Ids of the same millisecond have no defined order.
        let both = [first, second].sorted().map(\.description)
        #expect(facts["waitsFor"] as? [String] == both)
        let list = both.joined(separator: ", ")

        #expect(try queue.run("batches").lines.contains { $0.hasSuffix("\tlast\twaits for \(list)") })
        let status = try queue.run("status", "last")
        #expect(status.lines.contains("state\twaiting") && status.lines.contains("waits for\t\(list)"))
        let advice = "remove the dependency with: darkroom depend \(last) --on \(both[0]) --remove"
        #expect(status.standardError.contains("it waits for \(list); \(advice)"))

        let removed = try queue.run("depend", "last", "--on", "first", "--remove")
        #expect(
            removed.standardOutput == "\(label) no longer waits for \(first) \"first\"; it still waits for \(second)\n")
        let again = try queue.run("depend", "last", "--on", "first", "--remove")
        #expect(again.status == 0 && again.standardOutput.hasPrefix("\(label) did not wait for \(first)"))
        #expect(try queue.run("depend", "last", "--on", "\(second)", "--remove").status == 0)
        #expect(try queue.store.facts(of: last)?.state == .ready)
    }

    @Test func waitReportsTheDependency() throws {
        let queue = try Queue()
        let first = try queue.submit(Self.urls)
        let second = try queue.submit(Self.urls)
        #expect(try queue.run("depend", "\(second)", "--on", "\(first)").status == 0)
        let waiting = try queue.start("wait", "\(second)")
        try waiting.waitFor(
            "batch \(second): no running worker takes it: there is no worker; start one with: darkroom worker")
        // If a program waits for both batches, it reports only the problem of the first batch.
        let both = try queue.start("wait")
        try both.waitFor("batch \(first): no running worker takes it")
        try queue.develop("F")
        // No worker runs. The heartbeats of the waiting programs make the second batch ready.
        try waitUntil("the second batch is ready") { try queue.store.facts(of: second)?.state == .ready }
        try queue.develop("F")
        #expect(try waiting.outcome().status == 0)
        let outcome = try both.outcome()
        #expect(outcome.status == 0 && !outcome.standardError.contains("it waits for"))
    }

    @Test func unsuccessfulBatchCancelsItsDependents() throws {
        let queue = try Queue()
        let first = try queue.submit(Self.urls)
        try queue.develop("i")
        let second = try queue.submit(Self.urls) { $0.afterSuccess = true }
        let outcome = try queue.run("depend", "\(second)", "--on", "\(first)")
        #expect(outcome.standardOutput.contains("is cancelled: \(first) did not succeed"))
        let reason = "\(first) did not succeed"
        let status = try queue.run("status", "\(second)").lines
        #expect(status.contains("state\tfinished, cancelled") && status.contains("reason\t\(reason)"))
        #expect(try queue.run("batches").lines.contains { $0.hasSuffix("\t\(reason)") })
        let waited = try queue.run("wait", "\(second)")
        #expect(waited.status == 4 && waited.standardOutput.hasPrefix("\(second): finished, cancelled (\(reason)), "))
        let facts = try #require(try queue.run("wait", "\(second)", "--json").json() as? [String: Any])
        #expect(facts["cancelledReason"] as? String == reason)
    }

    @Test func impossibleDependenciesAreErrors() throws {
        let queue = try Queue()
        let ids = try (0..<3).map { _ in try queue.submit(Self.urls) }
        func refusal(_ waits: BatchID, _ others: BatchID...) throws -> String {
            let options = others.flatMap { ["--on", "\($0)"] }
            let line = ["depend", "\(waits)"] + options + ["--namespace", queue.namespace]
            let outcome = try Program(line, environment: queue.environment).outcome()
            #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
            return outcome.standardError
        }
        #expect(try queue.run("depend", "\(ids[1])", "--on", "\(ids[0])").status == 0)
        #expect(try queue.run("depend", "\(ids[2])", "--on", "\(ids[1])").status == 0)
        let cycle = try refusal(ids[0], ids[2])
        #expect(cycle.contains("\(ids[2]) waits for \(ids[1]), \(ids[1]) waits for \(ids[0])"), "\(cycle)")
        #expect(try refusal(ids[0], ids[0]).contains("batch \(ids[0]) cannot wait for itself"))
        _ = try queue.claim()
        let started = try refusal(ids[0], try queue.submit(Self.urls))
        #expect(started.contains("batch \(ids[0]) has started, so it cannot be made to wait"), "\(started)")
        let missing = try queue.run("depend", "\(ids[2])", "--on", "nothing")
        #expect(missing.status == 1 && missing.standardError.contains("no batch \"nothing\""))
    }
}
