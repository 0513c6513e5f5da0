import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `darkroom submit` while its Redis dies and comes back.
@Suite(.timeLimit(.minutes(2))) struct SubmitOutageTests {
    /// Without an append-only file the batch is gone with the server, as after a failover to a replica that had not heard of it.
    @Test(arguments: [true, false]) func goesOnByItself(keepsFile: Bool) throws {
        let arguments = keepsFile ? ["--appendonly", "yes", "--appendfsync", "always"] : []
        let server = try RedisServer(arguments: arguments)
        defer { server.stop() }
        let queue = try Queue(server)
        let scratch = try ScratchFolder()
        let list = try scratch.write("list.txt", (0..<120).map { "http://photos.example/\($0).jpg\n" }.joined())
        let submit = try queue.start(
            "submit", list, "-o", queue.folder, "--window", "1", "--operation-size", "40", "--name", "holidays")
        try submit.waitFor("\n", in: .standardOutput)
        let id = try #require(try queue.store.batchIDs().first)
        let fedBy = ContinuousClock.now + .seconds(30)
        while try queue.store.facts(of: id)?.operations != 1 {
            try #require(ContinuousClock.now < fedBy, "its window of one operation is not full")
        }
        server.crash()
        try submit.waitFor("feeding has stopped, trying again: ")
        // Longer than the 0.3 s after which it looks at its batch besides feeding it.
        usleep(500_000)
        try server.restart()
        try submit.waitFor(keepsFile ? "feeding continues" : "reading the list again")
        let deadline = ContinuousClock.now + .seconds(30)
        while try queue.store.facts(of: id)?.sealed != true {
            try #require(ContinuousClock.now < deadline, "it is not fed to its end")
            try queue.develop("F", writesManifest: false)
        }
        let outcome = try submit.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput == "\(id)\n")
        #expect(try queue.store.facts(of: id)?.photos == 120)
        #expect(outcome.standardError.components(separatedBy: "feeding has stopped").count == 2, "\(outcome)")
    }
}
