import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// Progress that `run` and `wait` draw on a terminal.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct ProgressTerminalTests {
    /// Starts `run` with photos that the server holds until its `release()` is called.
    private func run(_ count: Int) throws -> (terminal: PseudoTerminal, server: HostileServer, scratch: ScratchFolder) {
        let scratch = try ScratchFolder()
        let routes = (0..<count).map { ("/\($0).jpg", HostileServer.Route.held(.answer(body: RunCommandTests.photo))) }
        let server = try HostileServer(Dictionary(uniqueKeysWithValues: routes))
        let list = try scratch.write("list.txt", (0..<count).map { server.url("/\($0).jpg\n") }.joined())
        let terminal = try PseudoTerminal(
            Program.executable, ["run", list, "-o", scratch.path("out"), "--allow-private"],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        return (terminal, server, scratch)
    }

    @Test func erasesEchoedKeysWithTheLines() throws {
        let (terminal, server, scratch) = try run(200)
        defer { server.stop() }
        let mark = try terminal.waitFor("\u{1b}[2A")  // the list is fed: `run` redraws two lines
        terminal.press("\u{3}")  // without a controlling terminal: only echoed, no signal
        try terminal.waitFor("^C\r\u{1b}[2A\u{1b}[J", after: mark)
        terminal.send(SIGINT)
        try terminal.waitFor("stopping: ", after: mark)
        server.release()
        #expect(try terminal.status() == 130)
        withExtendedLifetime(scratch) {}
    }

    @Test func erasesWrappedLines() throws {
        let (terminal, server, scratch) = try run(5)
        defer { server.stop() }
        let mark = try terminal.waitFor("\u{1b}[2A")
        terminal.resize(40, 24)
        // After the resize, two lines of 60 columns take four lines.
        try terminal.waitFor("\u{1b}[4A\u{1b}[J", after: mark)
        server.release()
        #expect(try terminal.status() == 0)
        withExtendedLifetime(scratch) {}
    }

    @Test func waitShowsProgressOnATerminal() throws {
        let queue = try Queue()
        let first = try queue.submit((0..<4).map { "http://h/\($0)" })
        let arguments = ["--namespace", queue.namespace]
        let one = try PseudoTerminal(
            Program.executable, ["wait", "\(first)"] + arguments, environment: queue.environment)
        try one.waitFor("0 of 4")
        let second = try queue.submit((0..<4).map { "http://h/\($0)" }) { $0.name = "second" }
        let all = try PseudoTerminal(Program.executable, ["wait"] + arguments, environment: queue.environment)
        try all.waitFor("BATCH")
        try all.waitFor("second")
        try queue.develop("F")
        #expect(try one.status() == 0)
        #expect(try all.status() == 0)
        try all.waitFor("\(second) \"second\": finished, 4 of 4 photos filtered")
    }
}
