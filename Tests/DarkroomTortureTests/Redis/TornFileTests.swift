import Darkroom
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

@testable import StoreInspection

/// The machine fails: Redis is killed, and its append-only file ends at a random byte. It restarts twice, because a part of
/// a transaction at the end of the file is executed by the second start if something was appended to it.
@Suite(.serialized) struct TornFileTests {
    /// `darkroom run` is killed, and continues with the torn file of its private Redis.
    @Test func runContinuesWithATornFile() throws {
        var run = TortureRun("append-only file of `run` cut at a random byte, two restarts", count: 2)
        let scratch = try ScratchFolder()
        let photos = try TorturePhotos(scratch: scratch.path)
        var done = (runs: 0, cuts: 0, bytes: 0, insideTransactions: 0)
        while run.goesOn(after: done.runs) {
            let number = done.runs
            let output = scratch.path("out-\(number)")
            let list = try scratch.write(
                "list-\(number).txt",
                (0..<Self.photos).map { photos.url(batch: number, $0) + "\n" }.joined())
            let arguments = ["run", list, "-o", output, "--allow-private", "--per-host", "8"]
            for attempt in 0..<2 {
                let log = scratch.path("run-\(number)-\(attempt).log")
                let process = try BoundProcess([TortureWorker.program] + arguments, log: log)
                let least = Self.written(output) + run.random.number(in: 1..<Self.photos / 3)
                let deadline = ContinuousClock.now + .seconds(120)
                while Self.written(output) < least, !process.wait(within: .milliseconds(2)) {
                    guard .now < deadline else { throw TortureFailure("no progress: \(Self.text(of: log))") }
                }
                process.stop()
                // The server of the run ends with it.
                let file = try Self.waitForFile(output)
                let cut = try Self.cut(file, &run.random)
                done.cuts += 1
                done.bytes += cut.bytes
                done.insideTransactions += cut.isInsideTransaction ? 1 : 0
            }
            let log = scratch.path("run-\(number)-last.log")
            let last = try BoundProcess([TortureWorker.program] + arguments, log: log)
            guard last.wait(within: .seconds(120)) else {
                throw TortureFailure(
                    "darkroom run has not ended (seed \(run.seed), run \(number)): \(Self.text(of: log))")
            }
            #expect(last.exitStatus == 0, "run \(number): \(Self.text(of: log))")
            #expect(Self.written(output) == Self.photos, "run \(number)")
            try Self.verify(output, number)
            done.runs += 1
            try FileManager.default.removeItem(atPath: output)
            photos.forget(batch: number)
        }
        run.report([
            ("lists, all exact", "\(done.runs)"), ("cuts", "\(done.cuts)"),
            ("of them in a transaction", "\(done.insideTransactions)"),
            ("bytes cut off", "\(done.bytes)"), ("photos", "\(done.runs * Self.photos)"),
        ])
    }

    /// A Redis server of a cluster loads the torn file without a check, runs, is killed, and loads the file again.
    @Test func clusterRepairsItsBatches() throws {
        var run = TortureRun("append-only file of a cluster cut at a random byte, two restarts", count: 3)
        let redis = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "everysec"])
        defer { redis.stop() }
        let url = redis.configuration.displayName
        let cluster = try TortureCluster(redisURL: url, namespace: "torn", workers: 3, countsBytes: false)
        let load = FaultLoad(cluster: cluster, redisURL: url, photos: 600)
        var bytes = 0
        let outcome = try load.run(&run) { _, random in
            redis.crash()
            bytes += try Self.cut(try Self.file(in: redis.folder), &random).bytes
            try redis.restart()
            usleep(UInt32(random.number(in: 0..<1_500_000)))  // the time until the next failure
            redis.crash()
            try redis.restart()
        }
        try cluster.verifyStore()
        run.report([
            ("cuts", "\(outcome.faults)"), ("batches, all exact", "\(outcome.batches)"),
            ("photos", "\(outcome.photos)"),
            ("bytes cut off", "\(bytes)"), ("repairs", "\(cluster.logged("repaired a batch").count)"),
        ])
    }

    private static let photos = 300

    /// The number of developed photos in the output folder.
    private static func written(_ output: String) -> Int {
        guard let names = FileManager.default.enumerator(atPath: output) else { return 0 }
        return names.compactMap { $0 as? String }.count { name in
            ["jpg", "png"].contains((name as NSString).pathExtension) && !name.contains("/.") && !name.hasPrefix(".")
        }
    }

    private static func text(of log: String) -> String {
        FileManager.default.contents(atPath: log).map { String(decoding: $0.suffix(4000), as: UTF8.self) } ?? ""
    }

    /// The file that the server appends to.
    private static func file(in folder: String) throws -> String {
        let data = folder + "/appendonlydir"
        let names = try FileManager.default.contentsOfDirectory(atPath: data).filter { $0.hasSuffix(".incr.aof") }
        guard let last = names.max(by: { $0.localizedStandardCompare($1) == .orderedAscending }) else {
            throw TortureFailure("no append-only file in \(data)")
        }
        return data + "/" + last
    }

    /// Waits until the killed run's server has ended, and returns its append-only file.
    private static func waitForFile(_ output: String) throws -> String {
        let folder = output + "/.darkroom/redis"
        try waitUntil("the server in \(folder) has ended") {
            !RunningProcess.all.contains { process in
                process.name == "redis-server" && !process.isZombie
                    && URL(fileURLWithPath: "/proc/\(process.id)/cwd").resolvingSymlinksInPath().path == folder
            }
        }
        return try file(in: folder)
    }

    /// Cuts up to 20,000 bytes off the end of a file, at a random byte. Usually the cut is in the last transactions, as
    /// after a failure of the machine.
    private static func cut(_ file: String, _ random: inout SeededGenerator) throws -> (
        bytes: Int, isInsideTransaction: Bool
    ) {
        let content = FileManager.default.contents(atPath: file) ?? Data()
        let most = random.number(in: 0..<4) == 0 ? 20_000 : 2000
        let bytes = random.number(in: 0..<min(most, content.count / 2 + 1))
        let left = content.dropLast(bytes)
        guard truncate(file, off_t(left.count)) == 0 else { throw TortureFailure("cannot cut \(file)") }
        let begin = left.range(of: Data("\r\nMULTI\r\n".utf8), options: .backwards)?.lowerBound ?? -1
        let end = left.range(of: Data("\r\nEXEC\r\n".utf8), options: .backwards)?.lowerBound ?? -1
        return (bytes, begin > end)
    }

    /// Starts a server with the data of a finished run, and checks that the counters agree with the state codes.
    private static func verify(_ output: String, _ number: Int) throws {
        let scratch = try ScratchFolder(in: "/tmp")
        let server = try RedisServerProcess(
            socketPath: scratch.path("redis.sock"), folder: output + "/.darkroom/redis",
            arguments: ["--appendonly", "yes"])
        defer { server.terminate() }
        let store = BatchStore(server.configuration, keys: try Keys())
        defer { store.connection.close() }
        let violations = try StoreReader(store).read().violations()
        #expect(violations == [], "run \(number)")
        let facts = try store.facts(of: store.batchIDs())
        #expect(
            facts.count == 1 && facts.allSatisfy { $0.succeeded && $0.counts.filtered == photos },
            "run \(number): \(facts)")
    }
}
