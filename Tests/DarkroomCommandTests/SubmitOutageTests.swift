import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `darkroom submit` during a crash and a restart of Redis.
@Suite(.timeLimit(.minutes(5))) struct SubmitOutageTests {
    /// Without an append-only file, the batch is lost, as after a failover to a replica without the batch.
    @Test(arguments: [true, false]) func continuesAfterTheRestart(keepsFile: Bool) throws {
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
            try #require(ContinuousClock.now < fedBy, "the first operation was not fed within 30 s")
        }
        server.crash()
        try submit.waitFor("feeding has stopped, trying again: ")
        // Waits longer than the 0.3 s between two reads of the batch.
        usleep(500_000)
        try server.restart()
        try submit.waitFor(keepsFile ? "feeding continues" : "reading the list again")
        let deadline = ContinuousClock.now + .seconds(30)
        while try queue.store.facts(of: id)?.sealed != true {
            try #require(ContinuousClock.now < deadline, "the batch was not sealed within 30 s")
            try queue.develop("F", writesManifest: false)
        }
        let outcome = try submit.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput == "\(id)\n")
        #expect(try queue.store.facts(of: id)?.photos == 120)
        #expect(outcome.standardError.components(separatedBy: "feeding has stopped").count == 2, "\(outcome)")
    }
}
