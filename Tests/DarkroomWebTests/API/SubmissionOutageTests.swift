import Darkroom
import DarkroomConcurrency
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// Submissions that Redis does not accept, and what an ended server leaves of a submission.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SubmissionOutageTests {
    private static let list = (0..<3).map { "http://photos.example/\($0).jpg\n" }.joined()

    private let redis: RedisServer
    private let site: TestSite

    init() throws {
        redis = try RedisServer()
        site = try TestSite(redis, replyTimeout: .seconds(1))
    }

    private func limitMemory(_ bytes: Int) throws {
        _ = try site.client.store.connection.call(.init("CONFIG", "SET", "maxmemory", "\(bytes)"))
    }

    private func submit() throws -> HTTPReply {
        try site.call(
            "POST", "/batches?output=a", headers: ["Content-Type": "text/csv"], body: Array(Self.list.utf8))
    }

    /// The answer to a request that is sent on a separate thread, so that the caller can do other things in the
    /// meantime.
    private final class Answer: Sendable {
        private let result = Locked<Result<HTTPReply, any Error>?>(nil)
        private let isThere = DispatchSemaphore(value: 0)

        init(_ request: @escaping @Sendable () throws -> HTTPReply) {
            Thread.detachNewThread { [result, isThere] in
                let answer = Result { try request() }
                result.withLock { $0 = answer }
                isThere.signal()
            }
        }

        /// Waits for the answer.
        func get() throws -> HTTPReply {
            isThere.wait()
            return try #require(result.withLock { $0 }).get()
        }

        /// The answer if there is one, for messages.
        var soFar: String { result.withLock { $0 }.map { "\($0)" } ?? "no answer yet" }
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Waits until the record of a submission is written.
    private func waitForRecord(of answer: Answer) throws {
        try waitUntil("the record is written: \(answer.soFar)") {
            try names(in: site.scratch + "/lists").contains { $0.hasSuffix(".json") }
        }
    }

    private func waitUntilNoListIsKept() throws {
        try waitUntil("no list is kept") { try names(in: site.scratch + "/lists").isEmpty }
    }

    /// Waits until a batch is fed. A restarted server submits a missing batch at some time after its start; until then
    /// there are no events of the batch.
    /// - Returns: the number of its photos.
    private func fed(_ id: String, _ site: TestSite) throws -> Int? {
        let batch = try #require(BatchID(id))
        try waitUntil("the batch is submitted") { try site.client.store.facts(of: batch) != nil }
        try site.wait(for: "\"sealed\":true", of: id)
        return try site.json("GET", "/batches/\(id)")["photos"]?.int
    }

    /// Suspends Redis, and waits until it executes nothing more.
    private func suspendRedis() throws {
        redis.suspend()
        try waitUntil("Redis is stopped") {
            try String(contentsOfFile: "/proc/\(redis.processIdentifier)/status", encoding: .utf8)
                .contains("State:\tT")
        }
    }

    // MARK: - Out of memory

    @Test func submissionIsRefusedWhileRedisHasNoMemory() throws {
        defer { redis.stop() }
        try limitMemory(1)
        let reply = try submit()
        #expect(reply.status == 503 && reply.headers["retry-after"] != nil, "\(reply.text)")
        #expect(try JSONValue(reply.body)["code"]?.string == "busy")
        #expect(reply.text.contains("Redis has no memory left (") && reply.text.contains("nothing was submitted"))
        #expect(try names(in: site.scratch + "/lists") == [])
        try limitMemory(0)
        #expect(try site.client.store.batchIDs() == [])
        let accepted = try submit()
        #expect(accepted.status == 201, "\(accepted.text)")
        #expect(try fed(try #require(JSONValue(accepted.body)["id"]?.string), site) == 3)
    }

    /// The server stops its attempts to submit a batch when the client closes the connection.
    @Test func submissionOfAClientThatHasLeftIsDropped() throws {
        defer { redis.stop() }
        try limitMemory(1)
        do {
            let client = try RawClient(port: site.port)
            client.send(
                "POST /api/v1/batches?output=a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(TestSite.token)\r\n"
                    + "Content-Type: text/csv\r\nContent-Length: \(Self.list.utf8.count)\r\n\r\n\(Self.list)")
            try waitUntil("Redis has refused a script") { try refusedScripts() > 0 }
        }  // the connection is closed here
        let before = try refusedScripts()
        try waitUntilNoListIsKept()
        // One attempt may have begun before the connection was closed.
        #expect(try before > 0 && refusedScripts() <= before + 1)
        try limitMemory(0)
        #expect(try site.client.store.batchIDs() == [])
    }

    /// The number of scripts that Redis has refused because its memory is full.
    private func refusedScripts() throws -> Int {
        let reply = try site.client.store.connection.call(.init("INFO", "errorstats"))
        return try #require(reply.string).firstMatch(of: #/errorstat_OOM:count=(\d+)/#).flatMap { Int($0.1) } ?? 0
    }

    /// Redis executes the submission after the client was told that nothing is submitted.
    @Test func batchThatRedisSubmitsLaterIsRemoved() throws {
        defer { redis.stop() }
        try limitMemory(1)
        let other = BatchStore(redis.configuration, keys: site.client.location.keys)
        _ = try other.connection.call(.init("PING"))  // connects
        let answer = Answer { try submit() }
        try waitForRecord(of: answer)
        try suspendRedis()
        defer { redis.resume() }  // a suspended process does not end
        // Redis executes this command first when it is resumed, then the attempt to submit the batch, which was sent later
        // on a connection that is closed by then.
        other.connection.send([.init("CONFIG", "SET", "maxmemory", "0")]) { _ in }
        let reply = try answer.get()
        #expect(reply.status == 503, "\(reply.text)")
        #expect(try JSONValue(reply.body)["code"]?.string == "redisUnreachable", "\(reply.text)")
        redis.resume()
        try waitUntilNoListIsKept()
        #expect(try site.client.store.batchIDs() == [])
        let accepted = try submit()
        #expect(accepted.status == 201, "\(accepted.text)")
        withExtendedLifetime(other) {}
    }

    // MARK: - After a server that ended

    /// The server was killed after it had written the record, before it had submitted the batch.
    @Test func recordWithoutABatchIsSubmitted() throws {
        defer { redis.stop() }
        try limitMemory(1)
        let answer = Answer { try submit() }
        try waitForRecord(of: answer)
        let copy = try ScratchFolder()
        try FileManager.default.copyItem(atPath: site.scratch + "/lists", toPath: copy.path("lists"))
        #expect(try answer.get().status == 503)
        try limitMemory(0)
        site.stop()
        try FileManager.default.removeItem(atPath: site.scratch + "/lists")
        try FileManager.default.copyItem(atPath: copy.path("lists"), toPath: site.scratch + "/lists")
        let record = try #require(names(in: copy.path("lists")).first { $0.hasSuffix(".json") })
        // Redis refuses the id that the first server has withdrawn.
        _ = try site.client.store.connection.call(
            .init("DEL", site.client.location.keys.prefix + "forgotten"))
        #expect(try fed(String(record.dropLast(5)), site.restarted()) == 3)
        try waitUntilNoListIsKept()
    }

    /// Nothing is deleted because of a record that cannot be read.
    @Test func listsAreKeptBesideAnUnreadableRecord() throws {
        defer { redis.stop() }
        site.stop()
        let lists = site.scratch + "/lists"
        try Data("http://photos.example/1\n".utf8).write(to: URL(fileURLWithPath: lists + "/upload-1"))
        try Data("{".utf8).write(to: URL(fileURLWithPath: lists + "/20261121-090501123-7f3a.json"))
        let second = try site.restarted()
        #expect(try names(in: lists) == ["20261121-090501123-7f3a.json", "upload-1"])
        second.stop()
        try FileManager.default.removeItem(atPath: lists + "/20261121-090501123-7f3a.json")
        _ = try second.restarted()
        #expect(try names(in: lists) == [])
    }

    /// A server with the same cache that uses another Redis or namespace neither submits nor deletes a list.
    @Test func listOfAnotherRedisIsKept() throws {
        defer { redis.stop() }
        let form = Form(fields: [("output", "a"), ("operationSize", "1"), ("window", "1")], list: Self.list)
        let id = try #require(
            JSONValue(site.call("POST", "/batches", headers: form.headers, body: form.bytes).body)["id"]?.string)
        let kept = try names(in: site.scratch + "/lists")
        site.stop()
        _ = try site.client.control.forget(try #require(BatchID(id)), unfinished: true)
        let record = site.scratch + "/lists/\(id).json"
        let text = try String(contentsOfFile: record, encoding: .utf8)
        try text.replacing("{test-", with: "{other-").write(toFile: record, atomically: false, encoding: .utf8)
        let second = try site.restarted()
        // The list of the second submission is fed after the interrupted feeds were tried.
        _ = try second.call(
            "POST", "/batches?output=b", headers: ["Content-Type": "text/csv"], body: Array(Self.list.utf8))
        #expect(try Set(names(in: second.scratch + "/lists")).isSuperset(of: kept))
    }
}
