import Darkroom
import Foundation

/// Runs a worker with a custom filter, and a batch that uses the filter.
///
///     CopyrightFilter redis://127.0.0.1:6379 PHOTOS /tmp/signed "A. Photographer" [NAMESPACE]
///
/// PHOTOS is a folder of photos. While the worker is running, `darkroom submit PHOTOS -o /tmp/signed --filter
/// x:copyright` can also use the filter. Workers without the filter refuse such batches.
@main
struct CopyrightFilter {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().map { $0 }
        guard (4...5).contains(arguments.count) else {
            leave(2, "usage: CopyrightFilter REDIS PHOTOS OUTPUT OWNER [NAMESPACE]")
        }
        do {
            let configuration = try workerConfiguration(photos: arguments[1], owner: arguments[3])
            let redis = try RedisLocation(arguments[0], namespace: arguments.count > 4 ? arguments[4] : "darkroom")
            let worker = try PhotoWorker(redis, configuration)
            try await worker.start()
            let client = DarkroomClient(redis)
            let done = try await develop(client, photos: arguments[1], output: arguments[2])
            print("\(done.counts.filtered) of \(done.photos) photos signed")
            for (reason, count) in done.failures { print("\(count) failed: \(reason.word)") }
            await worker.stop()
            await client.close()
        } catch {
            leave(1, "\(error)")
        }
    }

    /// The configuration of a worker that has the filter and may read photos from the folder.
    static func workerConfiguration(photos: String, owner: String) throws -> PhotoWorkerConfiguration {
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = [photos]
        try configuration.register("copyright") { CopyrightComment(owner: owner) }
        // If this process is a helper, this call does not return. Helpers develop photos that may crash workers.
        configuration.useThisProgramAsHelper()
        return configuration
    }

    /// Submits the photos, and waits until all of them are final.
    static func develop(_ client: DarkroomClient, photos: String, output: String) async throws -> BatchFacts {
        var submission = Submission(photos)
        submission.filters = [.custom("copyright")]
        submission.output = URL(fileURLWithPath: output).path
        let batch = try await client.submit(submission)
        return try await client.wait(for: batch.id)
    }

    static func leave(_ status: Int32, _ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
