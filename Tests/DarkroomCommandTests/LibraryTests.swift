import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import DarkroomWorker
import Foundation
import Testing
import WorkerSupport

/// A program that runs a worker and reads a batch with the public types only.
@Suite(.redisServer) struct LibraryTests {

    @Test func programRunsAWorkerAndReadsABatch() async throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let id = try queue.submit([server.url("astronaut.jpg"), "NO URL"]) { $0.name = "holidays" }

        var configuration = PhotoWorkerConfiguration()
        configuration.downloads = 16
        configuration.outputFolders = [queue.folder]
        configuration.downloadRules.allowsPrivateAddresses = true
        let redis = try RedisLocation(queue.redis.configuration.displayName, namespace: queue.namespace)
        let log = Locked<[WorkerLogEvent]>([])
        let worker = try PhotoWorker(redis, configuration) { event in log.withLock { $0.append(event) } }
        try await worker.run {
            let waited = try queue.run("wait", "\(id)")
            #expect(waited.status == 3, "\(waited)")
            #expect(worker.photosDone == 2)
        }
        #expect(log.withLock { $0.first?.message } == "worker started")

        let batch = try await DarkroomClient(redis).batch(named: "holidays")
        #expect(batch.state == .finished && batch.counts.filtered == 1 && batch.photos == 2)
        var entries: [ManifestEntry] = []
        for try await entry in PhotoManifest(output: queue.folder).entries() { entries.append(entry) }
        #expect(entries.map(\.record.name) == ["photo 0", "photo 1"])
        #expect(entries.map(\.state) == [.filtered, .failed(.notAURL)])
    }
}
