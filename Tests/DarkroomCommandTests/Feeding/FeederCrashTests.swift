import Darkroom
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

/// Real `darkroom submit` processes that are killed, feed the same batch, or use a Redis server that lost changes.
@Suite(.timeLimit(.minutes(5)), .serialized) struct FeederCrashTests {
    private let redis: RedisServer
    /// Between the `submit` processes that read from a pipe and Redis.
    private let proxy: TCPProxy
    private let queue: Queue
    private let scratch: ScratchFolder

    init() throws {
        let port = try RedisServer.freePort()
        redis = try RedisServer(port: port)
        proxy = try TCPProxy(to: port)
        queue = try Queue(redis)
        scratch = try ScratchFolder()
    }

    private func stop() {
        proxy.close()
        redis.stop()
    }

    private func names(_ range: Range<Int>) -> String {
        range.map { "http://photos.example/a-photo-with-a-name/\($0).jpg\n" }.joined()
    }

    /// Waits until at least `wanted` operations of the only batch are fed, or the batch is sealed. Returns its facts.
    @discardableResult
    private func wait(forOperations wanted: Int) throws -> BatchFacts {
        var batch: BatchFacts?
        try waitUntil("\(wanted) operations are fed") {
            batch = try queue.store.facts(of: queue.store.batchIDs()).first
            return batch.map { $0.operations >= wanted || $0.sealed } ?? false
        }
        return try #require(batch)
    }

    /// Checks that the batch has each photo of the list once, in the order of the list.
    private func check(_ batch: BatchFacts, photos: Int) throws {
        #expect(batch.sealed && batch.photos == photos)
        let size = batch.options.operationSize
        #expect(batch.operations == (photos + size - 1) / size)
        #expect(batch.counts.new == photos && batch.operationsEnded == 0)
        let stateCodes = try queue.store.stateCodes(of: batch.id, in: 0..<photos + 1000)
        #expect(stateCodes == [UInt8](repeating: UInt8(ascii: "N"), count: photos))
        let keys = queue.store.keys
        for key in [keys.queue(batch.id), keys.operations(batch.id)] {
            let count = key == keys.operations(batch.id) ? "HLEN" : "ZCARD"
            #expect(try queue.store.connection.call(RedisCommand(count, key)).int == batch.operations)
        }
        var next = 0
        for first in stride(from: 1, through: batch.operations, by: 1000) {
            let numbers = Array(first...min(first + 999, batch.operations))
            for (number, entry) in zip(numbers, try queue.store.entries(of: batch.id, operations: numbers)) {
                let records = try OperationEntry.records(of: #require(entry), firstIndex: (number - 1) * size)
                let isWhole = records.enumerated().allSatisfy { offset, record in
                    record.url.hasSuffix("/\(next + offset).jpg")
                }
                try #require(isWhole, "operation \(number) does not have the photos from \(next) on")
                next += records.count
            }
        }
        #expect(next == photos)
    }

    @Test func statusReportsALostFeederAndResumeContinues() throws {
        defer { stop() }
        let list = try scratch.write("list.txt", names(0..<2000))
        let submit = try queue.start("submit", list, "-o", scratch.path("out"), "--window", "7")
        let id = try wait(forOperations: 7).id
        #expect(!(try queue.run("status", "\(id)")).standardError.contains("feeder"))
        submit.send(SIGKILL)
        _ = try submit.outcome()
        // Simulates a feeder that crashed 40 s ago.
        let seen = try queue.store.time() - 40_000
        _ = try queue.store.connection.call(
            RedisCommand("HSET", queue.store.keys.batch(id), "feeder.seen", "\(seen)"))
        for arguments in [["status"], ["status", "\(id)"]] {
            let status = try Program(
                arguments + ["--namespace", queue.namespace], environment: queue.environment
            ).outcome()
            #expect(status.standardError.contains("its feeder has been silent for 4"))
            #expect(status.standardError.contains(" s; 350 photos are fed, the list is not complete; if it is gone,"))
            #expect(status.standardError.contains("go on with: darkroom submit LIST --resume \(id)"))
        }
        // No worker runs, so the window would stay full. A larger window lets the feeder continue.
        _ = try queue.store.connection.call(RedisCommand("HSET", queue.store.keys.batch(id), "window", "1000"))
        let resumed = try queue.run("submit", list, "--resume", "\(id)")
        #expect(resumed.status == 0, "\(resumed)")
        try check(#require(try queue.store.facts(of: id)), photos: 2000)
        #expect(!(try queue.run("status", "\(id)")).standardError.contains("feeder"))
    }

    @Test func killedConcurrentFeedersFeedEachPhotoOnce() throws {
        defer { stop() }
        let (photos, size) = (60_000, 2)
        let list = try scratch.write("list.txt", names(0..<photos))
        let first = try queue.start(
            "submit", list, "-o", scratch.path("out"), "--operation-size", "\(size)", "--window", "100000")
        let id = try wait(forOperations: 1).id
        first.send(SIGKILL)
        _ = try first.outcome()
        #expect(try queue.store.facts(of: id)?.sealed == false, "the feed ended before the kill")
        for _ in 1...6 {
            let pair = try (0..<2).map { _ in try queue.start("submit", list, "--resume", "\(id)") }
            for process in pair.shuffled() {
                let fed = try #require(try queue.store.facts(of: id)).operations
                try wait(forOperations: fed + Int.random(in: 0...3000))
                process.send(SIGKILL)
            }
            for process in pair { _ = try process.outcome() }
            if try #require(try queue.store.facts(of: id)).sealed { break }
        }
        // If two feeders run to the end, both report success, in either order.
        let pair = try (0..<2).map { _ in try queue.start("submit", list, "--resume", "\(id)") }
        for process in pair {
            let outcome = try process.outcome()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.lines == ["\(id)"])
        }
        try check(#require(try queue.store.facts(of: id)), photos: photos)
    }

    /// A `submit` process that reads its list from a pipe. The test controls the pace.
    private final class PipedSubmit {
        let program: Program
        private let writer: Int32

        init(_ test: FeederCrashTests) throws {
            let pipe = test.scratch.path("list")
            #expect(mkfifo(pipe, 0o600) == 0)
            // Opened for reading and writing, so that open(2) does not block and a write raises no SIGPIPE.
            writer = open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK)
            // While Redis is down, the program does not read, so the pipe must have space for the text.
            let setPipeSize: Int32 = 1031  // F_SETPIPE_SZ of Linux, a macro that Swift does not see
            _ = fcntl(writer, setPipeSize, 1 << 20)
            program = try Program(
                ["submit", "-", "-o", test.scratch.path("out"), "--namespace", test.queue.namespace],
                environment: ["DARKROOM_REDIS": "redis://127.0.0.1:\(test.proxy.port)"], input: pipe)
        }

        deinit { close(writer) }

        /// Writes at the pace of the program. Fails if the program reads nothing for 60 s.
        func write(_ text: String) throws {
            let bytes = Array(text.utf8)
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { Foundation.write(writer, $0.baseAddress, $0.count) }
                written += max(count, 0)
                guard count < 0 else { continue }
                var pipe = pollfd(fd: writer, events: Int16(POLLOUT), revents: 0)
                try #require(poll(&pipe, 1, 60_000) == 1, "submit has stopped reading its list")
            }
        }
    }

    /// Starts a `submit` process, and returns it when Redis has saved at least `operations` operations of its list.
    private func savedSubmit(photos: Int, operations: Int) throws -> PipedSubmit {
        let submit = try PipedSubmit(self)
        try submit.write(names(0..<photos))
        try wait(forOperations: operations)
        _ = try queue.store.connection.call(RedisCommand("SAVE"))
        return submit
    }

    @Test func operationsThatRedisLostAreFedAgain() throws {
        defer { stop() }
        // 160 operations are five full pipelines. The feeder may send the last, incomplete pipeline later.
        var submit: PipedSubmit? = try savedSubmit(photos: 10_000, operations: 160)
        let program = try #require(submit).program
        try submit?.write(names(10_000..<20_000))
        try wait(forOperations: 360)
        // Redis restarts with its snapshot, like a promoted replica that lacks the last changes.
        redis.terminate()
        try redis.restart()
        let older = try wait(forOperations: 1)
        #expect(older.operations < 360)
        try submit?.write(names(20_000..<30_001))
        submit = nil  // the end of the list
        let outcome = try program.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardError.contains("Redis has lost operations that it had confirmed"))
        try check(wait(forOperations: 601), photos: 30_001)
    }

    @Test(arguments: [1, 100]) func feederWaitsForRedis(operations: Int) throws {
        defer { stop() }
        var submit: PipedSubmit? = try savedSubmit(photos: 10_000, operations: operations)
        let program = try #require(submit).program
        redis.terminate()
        try submit?.write(names(10_000..<12_000))
        try program.waitFor("trying again")
        // Failed reads of the batch, each with a new connection, must not end the program.
        let refused = proxy.refused
        try waitUntil("three more reads of the batch failed") {
            proxy.refused >= refused + 3 || program.ends(within: .zero)
        }
        #expect(!program.ends(within: .zero))
        try redis.restart()
        try submit?.write(names(12_000..<20_001))
        submit = nil  // the end of the list
        let outcome = try program.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        try check(wait(forOperations: 401), photos: 20_001)
    }

    @Test func pausedListIsFedOnceRedisIsBack() throws {
        defer { stop() }
        var submit: PipedSubmit? = try savedSubmit(photos: 2000, operations: 40)
        let program = try #require(submit).program
        redis.terminate()
        // One operation. Then the list pauses.
        try submit?.write(names(2000..<2050))
        try program.waitFor("trying again")
        try redis.restart()
        try wait(forOperations: 41)
        submit = nil  // the end of the list
        let outcome = try program.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        try check(wait(forOperations: 41), photos: 2050)
    }
}
