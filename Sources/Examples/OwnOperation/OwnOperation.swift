import Darkroom
import Foundation

/// Runs a worker that knows an operation of its own, and a batch that asks for it.
///
///     OwnOperation redis://127.0.0.1:6379 PHOTOS /tmp/signed "A. Photographer" [NAMESPACE]
///
/// PHOTOS is a folder of photos. Once such a worker runs, `darkroom submit PHOTOS -o /tmp/signed --filter x:copyright` asks
/// for the operation as well; workers that do not know it leave such batches alone.
@main
struct OwnOperation {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().map { $0 }
        guard (4...5).contains(arguments.count) else {
            leave(2, "usage: OwnOperation REDIS PHOTOS OUTPUT OWNER [NAMESPACE]")
        }
        do {
            let configuration = try workerConfiguration(photos: arguments[1], owner: arguments[3])
            let namespace = arguments.count > 4 ? arguments[4] : "darkroom"
            let worker = try Worker(
                redis: RedisConfiguration(url: arguments[0]), keys: Keys(namespace: namespace),
                configuration: configuration)
            try worker.start()
            let client = try DarkroomClient(arguments[0], namespace: namespace)
            let done = try await develop(client, photos: arguments[1], output: arguments[2])
            print("\(done.counts.filtered) of \(done.photos) photos signed")
            for (reason, count) in done.failures { print("\(count) failed: \(reason.word)") }
            worker.stop()
            await worker.stopped()
            await client.close()
        } catch {
            leave(1, "\(error)")
        }
    }

    /// What makes a worker that does `x:copyright`, and reads photos from the folder.
    static func workerConfiguration(photos: String, owner: String) throws -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.transfer.fileFolders = [photos]
        try configuration.register(as: "copyright") { CopyrightComment(owner: owner) }
        // Started as helper process, for photos that workers have died on, the program stays in here.
        configuration.useThisProgramAsHelper()
        return configuration
    }

    /// Submits the photos for the operation, and waits until all are done.
    static func develop(_ client: DarkroomClient, photos: String, output: String) async throws -> BatchFacts {
        var options = BatchOptions()
        options.filters = ["x:copyright"]
        options.output = URL(fileURLWithPath: output).path
        let batch = try await client.submit(contentsOf: photos, options: options)
        return try await client.wait(for: batch.id)
    }

    static func leave(_ status: Int32, _ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
