import Darkroom
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

/// The examples of the package, run as programs with a real Redis server and photos in a folder.
@Suite(.redisServer, .serialized)
struct ExampleTests {
    let redis = RedisServer.current

    private func run(_ name: String, _ arguments: String...) throws -> (status: Int32, text: String) {
        try ChildProgram(
            program: ChildProgram.built.appendingPathComponent(name), arguments: arguments, folder: redis.folder
        ).run()
    }

    @Test func controlsABatch() async throws {
        let namespace = redis.namespace()
        let output = redis.folder + "/\(namespace)"
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = [TestFiles.samples]
        let worker = try PhotoWorker(
            RedisLocation(redis.configuration.displayName, namespace: namespace), configuration)
        let outcome = try await worker.run {
            try run("ControlBatch", redis.configuration.displayName, TestFiles.samples, output, namespace)
        }
        #expect(outcome.status == 0, "\(outcome.text)")
        for expected in [
            "submitted 9 photos as ", "event: focus(", "event: priority(DarkroomModel.BatchPriority.high)",
            "finished: 9 of 9",
            "9 of 9 photos developed, 0 failed",
        ] { #expect(outcome.text.contains(expected), "\(outcome.text)") }
    }

    @Test func runsACustomFilter() async throws {
        let namespace = redis.namespace()
        let output = redis.folder + "/\(namespace)"
        let outcome = try run(
            "CopyrightFilter", redis.configuration.displayName, TestFiles.samples, output, "A. Photographer", namespace)
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text == "8 of 9 photos signed\n1 failed: filter-failed\n")
        var entries: [ManifestEntry] = []
        for try await entry in PhotoManifest(output: output).entries() { entries.append(entry) }
        for entry in entries where entry.state == .filtered {
            let name = try #require(URL(string: entry.record.url)).lastPathComponent
            let before = Data(try TestFiles.sample(name))
            let after = try Data(contentsOf: URL(fileURLWithPath: output + "/" + #require(entry.files.first).path))
            let comment = Data("\(entry.record.name), (c) A. Photographer".utf8)
            #expect(after.prefix(4) == Data([0xFF, 0xD8, 0xFF, 0xFE]))
            #expect(after[6..<6 + comment.count] == comment)
            #expect(after[(6 + comment.count)...] == before[2...])
        }
        #expect(entries.first { $0.state == .failed(.filterFailed) }?.record.name.contains("moon") == true)
    }

    @Test(arguments: ["ControlBatch", "CopyrightFilter"]) func printsUsageAndErrors(_ name: String) throws {
        let usage = try run(name)
        #expect(usage.status == 2 && usage.text.hasPrefix("usage: \(name) REDIS "))
        let failed = try run(name, "unix:///nowhere/redis.sock", TestFiles.samples, "/tmp/nothing", "someone")
        #expect(failed.status == 1 && failed.text.contains("unix:///nowhere/redis.sock"), "\(failed.text)")
    }
}
