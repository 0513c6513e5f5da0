import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Batches whose output folder another batch has taken. A retry takes the folder back.
@Suite(.serialized) final class TakenFolderTests {
    let redis: RedisServer
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        redis = try RedisServer()
        darkroom = try Darkroom(redis)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    deinit { redis.stop() }

    private func takeBack(_ id: BatchID) throws {
        _ = try darkroom.store.perform(darkroom.store.retry(id, overwrite: true))
    }

    @Test func sameWorkerRunsABatchAtOnceAfterItTookItsFolderBack() async throws {
        try darkroom.withWorker { _ in
            let first = try darkroom.submit((0..<4).map { photos.url("/missing-\($0).jpg") }, darkroom.options())
            #expect(try darkroom.wait(first).counts.failed == 4)
            let second = try darkroom.submit([photos.url("/moon.png")], darkroom.options())
            try darkroom.wait(second)
            try takeBack(first)
            let facts = try darkroom.wait(first, within: 20) { $0.state == .finished && $0.round == 2 }
            #expect(facts.counts.failed == 4)
        }
    }

    @Test func executingBatchContinuesAfterItTookItsFolderBack() async throws {
        let late = try TestFiles.sample("chelsea.jpg")
        let server = try HostileServer(["/late.jpg": .held(.answer(body: [UInt8](late)))])
        defer { server.stop() }
        try await darkroom.withWorker { _ in
            let first = try darkroom.submit([server.url("/late.jpg")], darkroom.options())
            #expect(await server.wait(timeout: .seconds(60)) { $0.running == 1 })
            let second = try darkroom.submit([photos.url("/moon.png")], darkroom.options())
            try darkroom.wait(second)
            server.release()
            darkroom.waitForLog("output cannot be written, its batches wait")
            #expect(try #require(try darkroom.store.facts(of: first)).state == .executing)
            try takeBack(first)
            #expect(try darkroom.wait(first, within: 20).counts.filtered == 1)
            try darkroom.check(first)
        }
    }

    @Test func refusedBatchIsClaimedAfterItTookItsFolderBack() async throws {
        let first = try darkroom.submit([photos.url("/chelsea.jpg")], darkroom.options())
        _ = try darkroom.store.perform(darkroom.store.suspend(first, .everything, true))
        try darkroom.withWorker { _ in
            let second = try darkroom.submit([photos.url("/moon.png")], darkroom.options())
            try darkroom.wait(second)
            _ = try darkroom.store.perform(darkroom.store.suspend(first, .everything, false))
            darkroom.waitForLog("batch is left to other workers")
            var codes: [BatchProblem.Code] = []
            try waitUntil("the next heartbeat reports the problem: \(codes)") {
                let facts = try #require(try darkroom.store.facts(of: first))
                codes = try darkroom.store.problems(of: [facts], now: try darkroom.store.time()).of(facts).map(\.code)
                return codes == [.folderTaken]
            }
            try takeBack(first)
            #expect(try darkroom.wait(first, within: 20).counts.filtered == 1)
            try darkroom.check(first)
        }
    }
}
