import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `darkroom submit` during a crash and a restart of Redis.
@Suite(.timeLimit(.minutes(5))) struct SubmitOutageTests {
    /// Without an append-only file, the batch is lost, as after a failover to a replica without the batch.
    @Test(arguments: [true, false]) func continuesAfterTheRestart(keepsFile: Bool) throws {
        let arguments = keepsFile ? ["--appendonly", "yes", "--appendfsync", "always"] : []
        let port = try RedisServer.freePort()
        let server = try RedisServer(arguments: arguments, port: port)
        let proxy = try TCPProxy(to: port)
        defer {
            proxy.close()
            server.stop()
        }
        let queue = try Queue(server)
        let scratch = try ScratchFolder()
        let list = try scratch.write("list.txt", (0..<120).map { "http://photos.example/\($0).jpg\n" }.joined())
        let submit = try Program(
            [
                "submit", list, "-o", queue.folder, "--window", "1", "--operation-size", "40", "--name", "holidays",
                "--namespace", queue.namespace,
            ], environment: ["DARKROOM_REDIS": "redis://127.0.0.1:\(proxy.port)"])
        try submit.waitFor("\n", in: .standardOutput)
        let id = try #require(try queue.store.batchIDs().first)
        try waitUntil("the first operation is fed") { try queue.store.facts(of: id)?.operations == 1 }
        server.crash()
        try submit.waitFor("feeding has stopped, trying again: ")
        // Each attempt to read the batch makes a new connection.
        let refused = proxy.refused
        try waitUntil("two more reads of the batch failed") { proxy.refused >= refused + 2 }
        try server.restart()
        try submit.waitFor(keepsFile ? "feeding continues" : "reading the list again")
        try waitUntil("the batch is sealed") {
            try queue.develop("F", writesManifest: false)
            return try queue.store.facts(of: id)?.sealed == true
        }
        let outcome = try submit.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardOutput == "\(id)\n")
        #expect(try queue.store.facts(of: id)?.photos == 120)
        #expect(outcome.standardError.components(separatedBy: "feeding has stopped").count == 2, "\(outcome)")
    }
}
