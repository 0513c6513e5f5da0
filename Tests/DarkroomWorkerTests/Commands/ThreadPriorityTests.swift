import DarkroomConcurrency
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// The nice value of the calling thread.
private var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

/// Returns the nice value of the thread that runs it.
private struct Niceness: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] { Array("\(niceness)".utf8) }
}

@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct ThreadPriorityTests {
    /// The nice values of this process's threads, by thread.
    private func ofAllThreads() throws -> [String: Int] {
        var all: [String: Int] = [:]
        for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
            // A thread may end before its file is read. The name, field 2 of proc(5), may contain spaces; field 19 is
            // the 17th after it.
            guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { continue }
            let name = text[text.firstIndex(of: "(")!...end]  // a text with ")" also contains "("
            all["\(thread) \(name)"] = Int(text[end...].split(separator: " ")[17])
        }
        return all
    }

    @Test func onlyFiltrationsRunWithTheThreadPriority() throws {
        let darkroom = try Darkroom(.current)
        let server = try HostileServer(["/a": .answer(body: [1])])
        defer { server.stop() }
        let id = try darkroom.submit(
            Array(repeating: server.url("/a"), count: 200),
            darkroom.options {
                $0.filters = [.custom("niceness")]
                $0.operationSize = 10
            })
        let threads = try darkroom.withWorker {
            $0.threadPriority = 0.0
            try $0.addFilter("niceness") { Niceness() }
        } run: { _ in
            try darkroom.wait(id)
            return try ofAllThreads()
        }
        try darkroom.check(id)
        for index in [0, 100, 199] {
            let line = try #require(try darkroom.manifest(of: id)[index])
            let text = try #require(FileManager.default.contents(atPath: "\(darkroom.folder)/\(line.file ?? "")"))
            #expect(String(decoding: text, as: UTF8.self) == "19")
        }
        let others = threads.filter { !$0.key.contains("darkroom-filter") && $0.value == 19 }
        #expect(others.isEmpty, "other threads have the priority, too: \(others)")
        #expect(threads.contains { $0.key.contains("darkroom-filter") && $0.value == 19 })
    }

    @Test func priorityOneHalfKeepsTheThread() throws {
        let darkroom = try Darkroom(.current)
        let own = niceness
        let name = Thread.current.name
        let threads = FiltrationThreads(priority: 0.5, logger: darkroom.logger)
        let seen = threads.run { (niceness, Thread.current.name) }
        #expect(seen.0 == own && seen.1 == name, "the work ran on another thread")
        #expect(darkroom.lines.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [
        (0.5, 0, 0), (0.5, 2, 2), (0.0, 0, 19), (0.0, 2, 19), (0.25, 0, 10), (0.4, 2, 5), (1.0, 2, -20), (0.75, 0, -10),
        (-3, 0, 19), (7, 0, -20),
    ])
    func interpolatesTheNiceValueLinearly(_ priority: Double, _ own: Int32, _ niceness: Int32) {
        #expect(FiltrationThreads.niceness(of: priority, from: own) == niceness)
    }

    @Test func logsOnceThatTheSystemRefusesThePriority() throws {
        let darkroom = try Darkroom(.current)
        let threads = FiltrationThreads(priority: 1.0, logger: darkroom.logger)
        let own = niceness
        // Two calls at the same time, so that two threads are started.
        let meeting = DispatchSemaphore(value: 0)
        let values = Locked<[Int32]>([])
        let callers = (0..<2).map { number in
            OwnedThread("caller") {
                let value = threads.run {
                    if number == 0 { meeting.wait() } else { meeting.signal() }
                    return niceness
                }
                values.withLock { $0.append(value) }
            }
        }
        for caller in callers { caller.join() }
        // With the privilege, the threads get the priority; without it, the refusal is logged.
        let isGranted = values.withLock { $0 } == [-20, -20]
        #expect(isGranted || values.withLock { $0 } == [own, own])
        #expect(darkroom.lines.withLock { $0.count } == (isGranted ? 0 : 1))
    }
}
