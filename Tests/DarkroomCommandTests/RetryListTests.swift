import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `retry --list`: failed photos whose names and URLs are no longer in Redis.
@Suite(.redisServer(arguments: ["--appendonly", "yes"]), .timeLimit(.minutes(5))) struct RetryListTests {
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    /// Submits a batch of four photos in two operations, reports failures, and deletes the operations in Redis.
    func failedBatch() throws -> (id: BatchID, list: String) {
        let list = try scratch.write("list.txt", (0..<4).map { "http://photos.example/\($0)\n" }.joined())
        let outcome = try queue.run("submit", list, "-o", scratch.path("out"), "--operation-size", "2")
        let id = try #require(outcome.lines.first.flatMap { BatchID($0) })
        try queue.develop("i", writesManifest: false)
        for number in ["1", "2"] {
            _ = try queue.store.connection.call(.init("HDEL", queue.store.keys.operations(id), number))
        }
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "operations.kept", "0"))
        return (id, list)
    }

    @Test func restoresOperationsThatWereNotKept() throws {
        let (id, list) = try failedBatch()
        let without = try queue.run("retry", "\(id)")
        #expect(without.status == 1)
        #expect(without.standardError.contains("darkroom retry \(id) --list LIST"), "\(without)")

        let outcome = try queue.run("retry", "\(id)", "--list", list)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput.contains("4 failed photos of batch \(id) run again"))
        let facts = try #require(try queue.store.facts(of: id))
        #expect((facts.counts.new, facts.counts.failed, facts.round) == (4, 0, 2))
        try queue.develop("F", writesManifest: false)
        #expect(try queue.store.facts(of: id)?.succeeded == true)
    }

    @Test func rejectsADifferentListWithoutChanges() throws {
        let (id, _) = try failedBatch()
        let other = try scratch.write("other.txt", (1..<5).map { "http://photos.example/\($0)\n" }.joined())
        let outcome = try queue.run("retry", "\(id)", "--list", other)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("this photo list is not the one it was fed from"), "\(outcome)")
        #expect(try queue.run("retry", "\(id)", "--list", scratch.path("none")).status == 1)
        let facts = try #require(try queue.store.facts(of: id))
        #expect((facts.counts.failed, facts.round) == (4, 1))
        #expect(try queue.store.entries(of: id, operations: [1]) == [nil])
    }

    @Test func retryInTheFolderOfAnotherBatchNeedsOverwrite() throws {
        let list = try scratch.write("list.txt", "http://photos.example/0\n")
        func submit(_ more: String...) throws -> String {
            let arguments = ["submit", list, "-o", scratch.path("out"), "--namespace", queue.namespace] + more
            let outcome = try Program(arguments, environment: queue.environment).outcome()
            return try #require(outcome.lines.first, "\(outcome)")
        }
        let first = try submit()
        try queue.develop("i", writesManifest: false)
        let second = try submit("--overwrite")
        let refused = try queue.run("retry", first)
        #expect(refused.status == 1)
        #expect(
            refused.standardError.contains(
                "batch \(second) has taken its output; overwrite its photos with --overwrite"))
        let outcome = try queue.run("retry", first, "--overwrite")
        #expect(outcome.status == 0 && outcome.standardOutput.contains("1 failed photo of batch \(first) runs again"))
    }
}
