import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// What a worker tells Redis of a suspect: whether a photo of it is where it could end the worker.
@Suite(.redisServer, .timeLimit(.minutes(1))) struct TrialTests {
    @Test func transferOfASuspectIsATrialUntilItIsOver() async throws {
        let darkroom = try Darkroom(.current)
        let server = try HostileServer(["/held.jpg": .held(.answer(status: 404))])
        defer { server.stop() }
        let id = try darkroom.submit([server.url("/held.jpg"), "NO URL"], darkroom.options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.leaseExpiries(id), "1", "2"))
        let worker = try darkroom.worker()
        #expect(await server.wait { $0.running == 1 }, "the download has not begun")
        let holder = try darkroom.store.connection.call(.init("HGET", darkroom.keys.executing(id), "1")).string
        #expect(holder?.hasSuffix(" begun") == true, "Redis was not told before: \(holder ?? "")")
        server.release()
        let facts = try darkroom.wait(id)
        worker.stop()
        worker.wait()
        #expect(facts.failures == [.httpClientError: 1, .notAURL: 1])
    }

    @Test func lettersTellOfSuspectsWithoutProgressOnly() throws {
        var bench = LedgerBench()
        let batch = BatchID("batch")
        let suspect = try bench.claim(batch, 1, photos: 3, leaseExpiries: 2)
        let other = try bench.claim(batch, 2, photos: 3, leaseExpiries: 1)
        let begun = bench.begin()
        func stateCodes(_ held: HeldOperation, begins: Bool) -> String? {
            begun.first { $0.operation == held }.flatMap { bench.ledger.stateCodes(of: $0, begins: begins) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(stateCodes(suspect, begins: true) == "..." && stateCodes(suspect, begins: false) == "N..")
        #expect(stateCodes(other, begins: true) == nil)
        for photo in begun where photo.operation == suspect { bench.download(photo) }
        bench.filterAll()
        #expect(stateCodes(suspect, begins: true) == nil, "it makes progress")
    }
}
