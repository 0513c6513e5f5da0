import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomLogging
@testable import DarkroomWorker

/// The log events of a worker.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct LogTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    /// Runs a batch with a worker that logs JSON to a pipe.
    /// - Returns: the log lines in order, as text and as decoded objects.
    private func run(
        _ urls: [String], clock: LogClock = .system
    ) throws -> (id: BatchID, text: String, events: [[String: Any]]) {
        let pipe = Pipe()
        let log = StreamLog(.json, descriptor: pipe.fileHandleForWriting.fileDescriptor, clock: clock)
        let read = Locked(Data())
        let reading = OwnedThread("reader") {
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            read.withLock { $0 = data }
        }
        let id = try darkroom.submit(urls, darkroom.options())
        let worker = try darkroom.withWorker(logger: Logger(label: "worker", level: .debug, handler: log)) { worker in
            try darkroom.wait(id)
            return worker
        }
        try pipe.fileHandleForWriting.close()
        reading.join()
        let text = String(decoding: read.withLock { $0 }, as: UTF8.self)
        let events = try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(events.allSatisfy { $0["worker"] as? String == worker.id })
        return (id, text, events)
    }

    @Test func logsAFailedPhotoInOneLineWithoutTheSecretsOfItsURL() throws {
        let server = try HostileServer([:])
        defer { server.stop() }
        let url = server.url("/gone.jpg")
        let secret = url.replacingOccurrences(of: "http://", with: "http://ann:pass@") + "?token=secret"
        let (id, text, events) = try run([secret])
        let messages = events.compactMap { $0["message"] as? String }
        // Before the report loop receives its reply, another thread may learn from Redis that the operation has ended.
        // In this case, the other thread logs a different message.
        let regular = messages.filter { $0 != "operation ended" && $0 != "operation no longer held" }
        #expect(
            regular.filter { $0 != "batch finished" } == [
                "worker started", "operations claimed", "photo failed", "worker stopping", "worker stopped",
            ])
        let finished = events.filter { $0["message"] as? String == "batch finished" }
        #expect(finished.count == 1 && finished.first?["batch"] as? String == id.description)
        #expect(finished.first?["photos"] as? Int == 1 && finished.first?["failed"] as? Int == 1)
        #expect(finished.first?["level"] as? String == "info")
        #expect(messages.count > regular.count, "\(messages)")
        let failed = try #require(events.first { $0["message"] as? String == "photo failed" })
        #expect(failed["batch"] as? String == id.description && failed["level"] as? String == "warning")
        #expect(failed["operation"] as? Int == 1 && failed["photo"] as? Int == 0 && failed["attempts"] as? Int == 1)
        #expect(failed["reason"] as? String == "http-4xx" && failed["url"] as? String == url)
        for part in ["ann", "pass", "token", "secret"] { #expect(!text.contains(part), "the log shows \(part)") }
        #expect(events.last?["photos"] as? Int == 1 && events.last?["held"] as? Int == 0)
    }

    @Test func logsMissingConfinementLayersAtTheStart() throws {
        func text(_ facts: ConfinementFacts) throws -> String {
            let pipe = Pipe()
            let log = StreamLog(.json, descriptor: pipe.fileHandleForWriting.fileDescriptor)
            let logger = Logger(label: "worker", level: .info, handler: log)
            Worker.logConfinement(facts, logger)
            logger.flush()
            try pipe.fileHandleForWriting.close()
            return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        #expect(try text(ConfinementFacts(filtersCalls: true, landlock: 1, hasNamespaces: true)).isEmpty)
        let some = try text(ConfinementFacts(filtersCalls: true, landlock: 0, hasNamespaces: false))
        #expect(some.contains("not confined: files by Landlock, network by namespaces") && some.contains("warning"))
    }

    @Test func limitsFailuresOfOneReasonToOneLinePerSecond() throws {
        let stopped = LogClock(now: { 0 }, elapsed: { 0 })
        let (_, _, events) = try run((0..<300).map { "NO URL \($0)" }, clock: stopped)
        let failed = events.filter { $0["message"] as? String == "photo failed" }
        #expect(failed.count == 2, "the log must contain the first failure, and the last failure at the end")
        #expect(failed.first?["leftOut"] == nil && failed.last?["leftOut"] as? Int == 298)
    }

    @Test func logsALostLease() async throws {
        let slow = try HostileServer(["/slow": .held(.answer(status: 404))])
        defer { slow.stop() }
        let id = try darkroom.submit([slow.url("/slow")], darkroom.options { $0.lease = .seconds(6) })
        try await darkroom.withWorker { _ in
            #expect(await slow.wait { $0.running == 1 })
            _ = try darkroom.store.perform(darkroom.store.forget(id, unfinished: true))
            darkroom.waitForLog(
                "warning test: lease lost, this worker no longer holds the operation batch=\(id) operation=1")
        }
    }

    @Test func doesNotLogRegularEndsAsLostLeases() throws {
        let id = try darkroom.submit(
            (0..<2000).map { "NO URL \($0)" }, darkroom.options { $0.operationSize = 1 })
        try darkroom.withWorker { _ in
            darkroom.waitForLog("operations claimed")
            // No reply of Redis reaches version 1000, so the worker keeps sending heartbeats without a pause.
            let notice = "{\"change\":\"photos\",\"batch\":\"\(id)\",\"version\":1000}"
            _ = try darkroom.store.connection.call(.init("PUBLISH", darkroom.keys.controlChannel, notice))
            try darkroom.wait(id)
        }
        let lines = darkroom.lines.withLock { $0 }
        #expect(lines.count { $0.contains("operation ended") } == 2000)
        #expect(!lines.contains { $0.contains("any more") })
    }
}
