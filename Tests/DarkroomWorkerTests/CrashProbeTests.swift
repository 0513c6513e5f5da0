import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Crash probes: the worker marks a quarantined operation in Redis while one of its photos could crash the worker.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct CrashProbeTests {
    @Test func transferOfAQuarantinedOperationIsACrashProbeUntilItEnds() async throws {
        let darkroom = try Darkroom(.current)
        let server = try HostileServer(["/held.jpg": .held(.answer(status: 404))])
        defer { server.stop() }
        let id = try darkroom.submit([server.url("/held.jpg"), "NO URL"], darkroom.options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.leaseExpiries(id), "1", "2"))
        let facts = try await darkroom.withWorker { _ in
            #expect(await server.wait { $0.running == 1 }, "the download has not begun")
            let holder = try darkroom.store.connection.call(.init("HGET", darkroom.keys.executing(id), "1")).string
            #expect(holder?.hasSuffix(" begun") == true, "the holder in Redis is not marked as begun: \(holder ?? "")")
            server.release()
            return try darkroom.wait(id)
        }
        #expect(facts.failures == [.httpClientError: 1, .notAURL: 1])
    }
}
