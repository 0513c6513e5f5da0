import DarkroomRecipes
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Workers that are cut off from Redis while another batch takes the folder that they write to.
///
/// `DARKROOM_CUT_OFF_WORKERS` sets the number of workers.
@Suite(.serialized, .timeLimit(.minutes(15))) struct CutOffWorkersTests {
    static let workers = ProcessInfo.processInfo.environment["DARKROOM_CUT_OFF_WORKERS"].flatMap { Int($0) } ?? 4
    @Test func doNotChangeFilesOfTheBatchThatTookTheirFolder() async throws {
        let port = try RedisServer.freePort()
        let redis = try RedisServer(port: port)
        defer { redis.stop() }
        let proxy = try TCPProxy(to: port)
        defer { proxy.close() }
        let darkroom = try Darkroom(redis)
        let photos = try PhotoServer(folder: TestFiles.samples)
        let count = 16 * Self.workers
        let late = try TestFiles.sample("chelsea.jpg")
        let server = try HostileServer(
            Dictionary(
                uniqueKeysWithValues: (0..<count).map { ("/\($0)/moon.png", .held(.answer(body: [UInt8](late)))) }))
        defer { server.stop() }
        let options = darkroom.options {
            $0.operationSize = 1; $0.fileName = "{index}"; $0.encoding = PhotoEncoding("format=png")
        }

        let first = try darkroom.submit((0..<count).map { server.url("/\($0)/moon.png") }, options)
        let through = try RedisConfiguration(url: "redis://127.0.0.1:\(proxy.port)")
        let cutOff = try darkroom.workers(Self.workers, redis: through) {
            $0.downloads = 1
            $0.filtrations = 1
            $0.hooks.transfer.maxRequests = 1
            // Without this limit, the workers would share a smaller number of requests to the host until they have
            // learned how many it answers.
            $0.downloadRules.connectionsPerHost = Self.workers
            // The server holds the downloads until another batch has taken the folder.
            $0.downloadRules.stallTimeout = .seconds(600)
            $0.downloadRules.minBytesPerSecond = 0
            $0.downloadRules.timeout = .seconds(86_400)
        }
        let (second, before) = try await cutOff.run { _ in
            #expect(await server.wait(timeout: .seconds(120 + Self.workers)) { $0.running >= Self.workers })
            proxy.interrupt()
            _ = try darkroom.store.perform(darkroom.store.cancel(first))
            let second = try darkroom.submit((0..<count).map { _ in photos.url("/moon.png") }, options)
            let facts = try darkroom.withWorker { _ in try darkroom.wait(second, within: 60 + Self.workers) }
            #expect(facts.counts.filtered == count)
            let before = try files(of: darkroom)
            #expect(before.count == count)

            // The disconnected workers complete their downloads only after the other batch has taken the folder.
            server.release()
            darkroom.waitForLog("output cannot be written, its batches wait", count: Self.workers, seconds: 120)
            #expect(try files(of: darkroom) == before)
            proxy.restore()
            return (second, before)
        }
        #expect(try files(of: darkroom) == before)
        try darkroom.check(second)
    }

    /// The existing photo files by name, each with an identity that distinguishes it from a replacement.
    private func files(of darkroom: Darkroom) throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: darkroom.folder) where name != "manifest" {
            var status = stat()
            #expect(stat(darkroom.folder + "/" + name, &status) == 0)
            files[name] = "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
        }
        return files
    }
}
