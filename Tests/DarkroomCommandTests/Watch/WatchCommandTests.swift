import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `watch` in a pipe, on a real Redis server.
@Suite(.redisServer, .serialized)
struct WatchCommandTests {
    private static let urls = (0..<4).map { "http://photos.example/\($0)" }

    @Test(arguments: [("F", 0), ("FFFi", 3)] as [(String, Int32)])
    func finishedBatchIsPrintedAtOnce(_ stateCodes: String, _ status: Int32) throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.name = "summer" }
        try queue.develop(stateCodes)
        let outcome = try queue.run("watch", "summer")
        #expect(outcome.status == status, "\(outcome)")
        #expect(outcome.lines.count == 1 && outcome.lines[0].hasPrefix("\(id) \"summer\": finished, "))
    }

    @Test func printsALineForEachChangeUntilTheBatchEnds() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.operationSize = 2 }
        let watching = try queue.start("watch", "\(id)")
        try watching.waitFor("\(id): ready, 4 photos, 0 downloaded, 0 filtered", in: .standardOutput)
        #expect(try queue.run("suspend", "\(id)").status == 0)
        try watching.waitFor("\(id): ready, suspended, 4 photos", in: .standardOutput)
        #expect(try queue.run("cancel", "\(id)").status == 0)
        let outcome = try watching.outcome()
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.lines.count == 3 && outcome.lines[2].hasPrefix("\(id): finished, cancelled"))
    }

    @Test func watchesAllBatchesUntilItIsInterrupted() throws {
        let queue = try Queue()
        let old = try queue.submit(Self.urls)
        try queue.develop("F")
        let first = try queue.submit(Self.urls)
        let watching = try queue.start("watch")
        try watching.waitFor("\(first): ready, 4 photos", in: .standardOutput)
        let second = try queue.submit(Self.urls)
        try watching.waitFor("\(second): ready, 4 photos", in: .standardOutput)
        #expect(try queue.run("forget", "\(old)").status == 0)
        try watching.waitFor("\(old): forgotten", in: .standardOutput)
        watching.send(SIGINT)
        let outcome = try watching.outcome()
        #expect(outcome.status == 130)
        #expect(!outcome.standardOutput.contains("\(old): finished"), "it had finished before the program started")
    }

    @Test func reportsAnOutageOfRedisAndItsEnd() throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let queue = try Queue(server)
        let id = try queue.submit(Self.urls)
        let watching = try queue.start("watch", "\(id)")
        try watching.waitFor("\(id): ready", in: .standardOutput)
        server.terminate()
        try watching.waitFor("Redis cannot be used, trying again until it can: ")
        try server.restart()
        try watching.waitFor("Redis \(server.configuration.displayName) is back")
        try queue.develop("F")
        let outcome = try watching.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardError.components(separatedBy: "Redis cannot be used").count == 2, "reported once")
    }

    @Test func forgettingTheBatchIsAnError() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let watching = try queue.start("watch", "\(id)")
        try watching.waitFor("\(id): ready", in: .standardOutput)
        #expect(try queue.run("forget", "\(id)", "--force").status == 0)
        let outcome = try watching.outcome()
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("batch \(id) was forgotten while it was watched; it had 0 of 4 photos"))
    }

    @Test func missingBatchIsAnError() throws {
        let queue = try Queue()
        let outcome = try queue.run("watch", "nothing")
        #expect(outcome.status == 1 && outcome.standardError.contains("no batch \"nothing\""))
    }
}
