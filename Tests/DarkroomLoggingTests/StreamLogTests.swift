import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomLogging

/// Loggers that write to a real pipe.
@Suite struct StreamLogTests {
    private let pipe = Pipe()
    private var descriptor: Int32 { pipe.fileHandleForWriting.fileDescriptor }

    /// Closes the write end of the pipe and returns the written lines.
    private func lines() throws -> [Substring] {
        try pipe.fileHandleForWriting.close()
        return Self.text(of: pipe).split(separator: "\n")
    }

    private static func text(of pipe: Pipe) -> String {
        String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    @Test func logsEventsOfItsLevelWithTheMetadataOfTheLogger() throws {
        let logger = Logger(label: "claims", handler: StreamLog(descriptor: descriptor)).with([.worker: "w-1"])
        func unwanted() -> LogMetadata {
            Issue.record("the metadata of an event below the level was evaluated")
            return [:]
        }
        logger.debug("claimed", unwanted())
        logger.info("started", [.batch: "b", "filtrations": 2])
        Logger.silent.error("never")
        let lines = try lines()
        #expect(lines.count == 1)
        #expect(lines[0].hasSuffix("Z info claims: started batch=b worker=w-1 filtrations=2"))
        let written = try Date(lines[0].prefix(19) + "Z", strategy: .iso8601)
        #expect(abs(written.timeIntervalSinceNow) < 60)
    }

    @Test func linesOfManyThreadsNeverMix() throws {
        let log = StreamLog(.json, descriptor: descriptor, patience: 60_000)
        let logger = Logger(label: "l", handler: log)
        let filler = String(repeating: "x", count: 900)
        let threads = (0..<8).map { thread in
            OwnedThread("logger-\(thread)") {
                for number in 0..<100 {
                    logger.info("line", [.photo: .number(100 * thread + number), "filler": .text(filler)])
                }
            }
        }
        let read = Locked("")
        let reading = OwnedThread("reader") { [pipe] in
            let text = Self.text(of: pipe)
            read.withLock { $0 = text }
        }
        for thread in threads { thread.join() }
        try pipe.fileHandleForWriting.close()
        reading.join()
        let photos = try read.withLock { $0 }.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["photo"] as? Int)
        }
        #expect(photos.sorted() == Array(0..<800))
    }

    @Test func repeatsAreWrittenOnceASecond() throws {
        let elapsed = Locked(0)
        let clock = LogClock(now: { 0 }, elapsed: { elapsed.withLock { $0 } })
        let log = StreamLog(descriptor: descriptor, clock: clock)
        let logger = Logger(label: "l", level: .trace, handler: log)
        for photo in 1...5 { logger.trace("failed", key: "timeout", [.photo: .number(photo)]) }
        elapsed.withLock { $0 = 1000 }
        log.writeDue()
        logger.trace("failed", key: "timeout", [.photo: 6])
        log.flush()
        let head = "1970-01-01T00:00:00.000Z trace l: failed photo="
        #expect(try lines() == ["\(head)1", "\(head)5 leftOut=3", "\(head)6"].map { $0[...] })
    }

    @Test func unreadLinesAreDroppedAndCountedWithoutBlocking() throws {
        let logger = Logger(label: "l", handler: StreamLog(descriptor: descriptor))
        let filler = String(repeating: "x", count: 900)
        for number in 0..<1000 { logger.info("line", ["number": .number(number), "filler": .text(filler)]) }
        // By default, a pipe holds 64 KiB.
        var waiting: Int32 = 0
        #expect(ioctl(descriptor, UInt(FIONREAD), &waiting) == 0)
        let taken = try #require(try pipe.fileHandleForReading.read(upToCount: Int(waiting)))
        let written = taken.split(separator: UInt8(ascii: "\n")).count
        #expect((60..<80).contains(written))
        logger.info("last")
        let lines = try lines()
        #expect(lines.count == 2 && lines[1].hasSuffix(" info l: last"))
        #expect(lines[0].hasSuffix(" warning log: the log was not read, lines were dropped lines=\(1000 - written)"))
    }

    /// A terminal stops its output after Ctrl-S, or while a user selects text.
    @Test func stoppedTerminalDoesNotBlock() throws {
        let pair = try TerminalPair()
        defer { pair.close() }
        let logger = Logger(label: "l", handler: StreamLog(descriptor: pair.terminal))
        #expect(tcflow(pair.terminal, TCOOFF) == 0)
        for number in 0..<1000 { logger.info("line", ["number": .number(number)]) }
        #expect(tcflow(pair.terminal, TCOON) == 0)
        logger.info("last")
        var shown = ""
        while !shown.hasSuffix("last\r\n") {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(pair.screen, &bytes, bytes.count)
            try #require(count > 0)
            shown += String(decoding: bytes[..<count], as: UTF8.self)
        }
        #expect(shown.contains("the log was not read, lines were dropped lines=1000\r\n"), "\(shown)")
    }

    @Test func closedPipeDoesNotEndTheProcess() throws {
        try pipe.fileHandleForReading.close()
        let logger = Logger(label: "l", handler: StreamLog(descriptor: descriptor))
        let isAsBefore = Locked(false)
        let thread = OwnedThread("writer") {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            logger.info("lost")
            var after = sigset_t()
            var pending = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &after)
            sigpending(&pending)
            let isClean = sigismember(&after, SIGPIPE) == 0 && sigismember(&pending, SIGPIPE) == 0
            isAsBefore.withLock { $0 = isClean }
        }
        thread.join()
        #expect(isAsBefore.withLock { $0 })
    }
}
