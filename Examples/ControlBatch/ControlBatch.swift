import Darkroom
import Foundation

/// Submits a photo list to a suspended cluster, sets the focus to three photos and resumes the cluster. Then prints the
/// events of the batch until it has finished.
///
///     darkroom worker --files-under PHOTOS &
///     ControlBatch redis://127.0.0.1:6379 PHOTOS /tmp/developed [NAMESPACE]
///
/// PHOTOS is any list for `darkroom submit`; here it is a folder of photos.
@main
struct ControlBatch {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().map { $0 }
        guard (3...4).contains(arguments.count) else { leave(2, "usage: ControlBatch REDIS LIST OUTPUT [NAMESPACE]") }
        do {
            let client = try DarkroomClient(arguments[0], namespace: arguments.count > 3 ? arguments[3] : "darkroom")
            for warning in try await client.connect() { print("warning:", warning) }
            var submission = Submission(arguments[1])
            submission.name = "controlled"
            submission.operationSize = 2
            submission.output = URL(fileURLWithPath: arguments[2]).path
            try await run(client, submission)
            await client.close()
        } catch {
            leave(1, "\(error)")
        }
    }

    static func run(_ client: DarkroomClient, _ submission: Submission) async throws {
        // In a suspended cluster no work starts, so the calls below take effect before the first photo starts.
        try await client.suspendAll()
        let batch = try await client.submit(submission)
        print("submitted \(batch.photos) photos as \(batch.id)")
        guard let done = try await follow(batch, client) else { return print("the batch was forgotten") }
        print("\(done.counts.filtered) of \(done.photos) photos developed, \(done.counts.failed) failed")
        for failure in try await client.failures(of: batch.id) {
            print("photo \(failure.index): \(failure.reason.word)")
        }
    }

    /// Starts the batch, and prints its events until it has finished.
    /// - Returns: the last facts of the batch; nil if the batch was forgotten.
    static func follow(_ batch: BatchFacts, _ client: DarkroomClient) async throws -> BatchFacts? {
        var last: BatchFacts?
        for try await update in client.follow(batch.id) {
            switch update {
            case .facts(let facts):
                print("\(facts.state.rawValue): \(facts.counts.done) of \(facts.photos) photos")
                // After the first facts, the stream misses no event.
                if last == nil { try await begin(batch, client) }
                last = facts
            case .event(let event): print("event: \(event.kind)")
            case .disconnected(let error): print("Redis is unreachable: \(error)")
            case .forgotten: last = nil
            }
        }
        return last
    }

    static func begin(_ batch: BatchFacts, _ client: DarkroomClient) async throws {
        let last = min(6, batch.photos - 1)
        try await client.focus(batch.id, max(0, last - 2)...last)
        try await client.prioritize(batch.id, .high)
        try await client.resumeAll()
    }

    static func leave(_ status: Int32, _ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
