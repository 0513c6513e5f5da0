import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `watch` on a terminal, on a real Redis server.
@Suite(.redisServer, .serialized)
struct WatchTerminalTests {
    private static let urls = (0..<4).map { "http://photos.example/\($0)" }
    private static let enter = "\u{1b}[?1049h"
    private static let leave = "\u{1b}[?25h\u{1b}[?1049l"

    private func watch(_ queue: Queue, _ arguments: String..., environment: [String: String] = [:]) throws
        -> PseudoTerminal
    {
        try PseudoTerminal(
            Program.executable, ["watch"] + arguments + ["--namespace", queue.namespace],
            environment: queue.environment.merging(environment) { $1 })
    }

    @Test func keysControlTheBatchAndTheResultStaysOnTheNormalScreen() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.name = "summer" }
        let terminal = try watch(queue, "summer")
        var mark = try terminal.waitFor("s suspend")
        #expect(!terminal.isRestored)
        terminal.press("s")
        mark = try terminal.waitFor("ready, suspended", after: mark)
        #expect(try queue.store.facts(of: id)?.suspended == true)
        terminal.press("s")
        mark = try terminal.waitFor("resumed", after: mark)
        #expect(try queue.store.facts(of: id)?.suspended == false)
        terminal.press("\u{1b}[Ac")  // an arrow key, which is ignored
        mark = try terminal.waitFor("cancel summer? 4 photos not done. y/n", after: mark)
        terminal.press("n")
        mark = try terminal.waitFor("c cancel", after: mark)
        #expect(try queue.store.facts(of: id)?.cancelled == false)
        terminal.press("cy")
        mark = try terminal.waitFor(Self.leave, after: mark)
        try terminal.waitFor("finished, cancelled", after: mark)
        #expect(try terminal.status() == 4)
        #expect(terminal.isRestored)
    }

    @Test func failuresAreShownAsTheyCome() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.operationSize = 1 }
        let terminal = try watch(queue, "\(id)")
        try terminal.waitFor("s suspend")
        for operation in try queue.claim().prefix(2) {
            let index = operation.held.number - 1
            let json = #"{"name":"lake \#(index).jpg","url":"http://x/","reason":"timeout","detail":"nothing came"}"#
            _ = try queue.store.perform(
                queue.store.report(
                    operation.held, worker: "tester", stateCodes: [103], bytesIn: 0, bytesOut: 0,
                    failures: [(index, Array(json.utf8))]))
            try terminal.waitFor("lake \(index).jpg")
        }
        terminal.press("q")
        #expect(try terminal.status() == 0)
        try terminal.waitFor("it continues without this view")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) func signalsRestoreTheTerminal(_ signal: Int32) throws {
        let queue = try Queue()
        try queue.submit(Self.urls)
        let terminal = try watch(queue)
        try terminal.waitFor("s suspend")
        terminal.send(signal)
        #expect(try terminal.status() == 130)
        try terminal.waitFor(Self.leave)
        #expect(terminal.isRestored)
    }

    @Test func crashRestoresTheTerminal() throws {
        let queue = try Queue()
        let terminal = try watch(queue)
        try terminal.waitFor("no batch")
        terminal.send(SIGSEGV)
        #expect(try terminal.status() == 128 + SIGSEGV)
        try terminal.waitFor(Self.leave)
        #expect(terminal.isRestored)
    }

    @Test func errorRestoresTheTerminal() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let terminal = try watch(queue, "\(id)")
        let mark = try terminal.waitFor("s suspend")
        #expect(try queue.run("forget", "\(id)", "--force").status == 0)
        try terminal.waitFor("was forgotten while it was watched", after: try terminal.waitFor(Self.leave, after: mark))
        #expect(try terminal.status() == 1)
        #expect(terminal.isRestored)
    }

    @Test func redrawsAfterAChangeOfTheSize() throws {
        let queue = try Queue()
        try queue.submit(Self.urls) { $0.name = "a long name that a narrow terminal cannot show in full" }
        let terminal = try watch(queue)
        let mark = try terminal.waitFor("s suspend")
        #expect(!terminal.text.contains("a long name that a narrow terminal cannot show in full"))
        terminal.resize(200, 40)
        try terminal.waitFor("a long name that a narrow terminal cannot show in full", after: mark)
        terminal.press("q")
        #expect(try terminal.status() == 0)
    }

    @Test func reportsAnOutageOfRedisAndContinues() throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let queue = try Queue(server)
        let id = try queue.submit(Self.urls)
        let terminal = try watch(queue, "\(id)")
        var mark = try terminal.waitFor("s suspend")
        server.terminate()
        mark = try terminal.waitFor("Redis cannot be used", after: mark)
        terminal.press("s")
        mark = try terminal.waitFor("not done: ", after: mark)
        try server.restart()
        mark = try terminal.waitFor("s suspend", after: mark)
        try queue.develop("F")
        try terminal.waitFor("4 of 4", after: mark)
        #expect(try terminal.status() == 0)
    }

    @Test func dumbTerminalGetsPlainLines() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let terminal = try watch(queue, "\(id)", environment: ["TERM": "dumb"])
        try terminal.waitFor("\(id): ready, 4 photos")
        #expect(terminal.isRestored && !terminal.text.contains("\u{1b}"))
        try queue.develop("F")
        #expect(try terminal.status() == 0)
    }
}
