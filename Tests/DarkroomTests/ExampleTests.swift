import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// The examples of the package, as programs on a real Redis with photos of a folder.
@Suite(.redisServer, .serialized)
struct ExampleTests {
    private static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()
    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Samples")

    let redis = RedisServer.current

    /// Runs a program to its end, 60 s at most.
    private func run(_ name: String, _ arguments: String...) throws -> (status: Int32, text: String) {
        let path = redis.folder + "/\(UUID().uuidString).out"
        try Data().write(to: URL(fileURLWithPath: path))
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let process = Process()
        process.executableURL = Self.programs.appendingPathComponent(name)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        // A child inherits the mask; where tests run, it may block the signals that end the child.
        var all = sigset_t()
        var before = sigset_t()
        sigemptyset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        if ended.wait(timeout: .now() + 60) == .timedOut {
            Issue.record("\(name) has not ended within 60 s")
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        return (process.terminationStatus, try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test func steersABatch() throws {
        let namespace = redis.namespace()
        let output = redis.folder + "/\(namespace)"
        var configuration = WorkerConfiguration()
        configuration.transfer.fileFolders = [Self.samples.path]
        let worker = try Worker(
            redis: redis.configuration, keys: Keys(namespace: namespace), configuration: configuration)
        try worker.start()
        defer {
            worker.stop()
            worker.wait()
        }
        let outcome = try run(
            "SteerBatch", redis.configuration.displayName, Self.samples.path, output, namespace)
        #expect(outcome.status == 0, "\(outcome.text)")
        for told in [
            "submitted 9 photos as ", "event: isSuspended(DarkroomModel.QueuePart.everything, true)", "event: focus(",
            "event: priority(DarkroomModel.Priority.high)", "9 of 9 photos developed, 0 failed",
        ] { #expect(outcome.text.contains(told), "\(outcome.text)") }
    }

    @Test func runsAnOperationOfItsOwn() throws {
        let namespace = redis.namespace()
        let output = redis.folder + "/\(namespace)"
        let outcome = try run(
            "OwnOperation", redis.configuration.displayName, Self.samples.path, output, "A. Photographer", namespace)
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(outcome.text == "8 of 9 photos signed\n1 failed: filter-failed\n")
        var lines: [ManifestLine] = []
        try ManifestReader(output: output).forEachLine { lines.append($0) }
        for line in lines where line.state == "filtered" {
            let name = try #require(URL(string: line.url)).lastPathComponent
            let before = try Data(contentsOf: Self.samples.appendingPathComponent(name))
            let after = try Data(contentsOf: URL(fileURLWithPath: output + "/" + #require(line.file)))
            let comment = Data("\(line.name), (c) A. Photographer".utf8)
            #expect(after.prefix(4) == Data([0xFF, 0xD8, 0xFF, 0xFE]))
            #expect(after[6..<6 + comment.count] == comment)
            #expect(after[(6 + comment.count)...] == before[2...])
        }
        #expect(lines.first { $0.state == "failed" }?.name.contains("moon") == true)
    }

    @Test(arguments: ["SteerBatch", "OwnOperation"]) func saysHowItIsUsedAndWhatIsWrong(_ name: String) throws {
        let usage = try run(name)
        #expect(usage.status == 2 && usage.text.hasPrefix("usage: \(name) REDIS "))
        let failed = try run(name, "unix:///nowhere/redis.sock", Self.samples.path, "/tmp/nothing", "someone")
        #expect(failed.status == 1 && failed.text.contains("unix:///nowhere/redis.sock"), "\(failed.text)")
    }
}
