import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// What the documentation's first page shows: a worker and a look at a batch, by a program that imports `Darkroom` alone.
@Suite(.redisServer) struct LibraryTests {
    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Samples").path

    @Test func programRunsAWorkerAndLooksAtABatch() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: Self.samples)
        defer { server.stop() }
        let id = try queue.submit([server.url("astronaut.jpg"), "NO URL"]) { $0.name = "holidays" }

        var configuration = WorkerConfiguration()
        configuration.downloads = 16
        configuration.outputsUnder = [queue.folder]
        configuration.transfer.allowPrivate = true
        let redis = try RedisConfiguration(url: queue.redis.configuration.displayName)
        let keys = try Keys(namespace: queue.namespace)
        let worker = try Worker(redis: redis, keys: keys, configuration: configuration)
        try worker.start()
        let waited = try queue.run("wait", "\(id)")
        #expect(waited.status == 3, "\(waited)")
        worker.stop()
        worker.wait()

        let store = BatchStore(redis, keys: keys)
        let batch = try store.batch(named: "holidays")
        #expect(batch.state == .finished && batch.counts.filtered == 1 && batch.photos == 2)
        var names: [String] = []
        try ManifestReader(output: queue.folder).forEachLine { names.append($0.name) }
        #expect(names == ["photo 0", "photo 1"])
    }
}
