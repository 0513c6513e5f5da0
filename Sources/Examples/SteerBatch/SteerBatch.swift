import Darkroom
import Foundation

/// Submits a photo list, holds it, looks at three photos first, lets it go on and prints what happens until its end.
///
///     darkroom worker --files-under PHOTOS &
///     SteerBatch redis://127.0.0.1:6379 PHOTOS /tmp/developed [NAMESPACE]
///
/// PHOTOS is anything that `darkroom submit` takes: here a folder of photos.
@main
struct SteerBatch {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst().map { $0 }
        guard (3...4).contains(arguments.count) else { leave(2, "usage: SteerBatch REDIS LIST OUTPUT [NAMESPACE]") }
        do {
            let client = try DarkroomClient(arguments[0], namespace: arguments.count > 3 ? arguments[3] : "darkroom")
            for warning in try await client.connect() { print("warning:", warning) }
            var options = BatchOptions()
            options.name = "steered"
            options.operationSize = 2
            options.output = URL(fileURLWithPath: arguments[2]).path
            try await run(client, list: arguments[1], options)
            await client.close()
        } catch {
            leave(1, "\(error)")
        }
    }

    static func run(_ client: DarkroomClient, list: String, _ options: BatchOptions) async throws {
        // A cluster that is suspended begins nothing, so that all below happens before the first photo.
        try await client.suspendAll()
        let batch = try await client.submit(contentsOf: list, options: options)
        print("submitted \(batch.photos) photos as \(batch.id)")

        // Listening begins with the first `subscribed`; whatever is steered from then on is told.
        var events = client.events(of: batch.id).makeAsyncIterator()
        _ = await events.next()
        let done = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [events] in await printEvents(events) }
            try await client.suspend(batch.id)
            let last = min(6, batch.photos - 1)
            try await client.focus(batch.id, max(0, last - 2)...last)
            try await client.prioritize(batch.id, .high)
            try await client.resumeAll()
            try await client.resume(batch.id)
            let done = try await client.wait(for: batch.id, timeout: .seconds(600))
            group.cancelAll()
            return done
        }
        print("\(done.counts.filtered) of \(done.photos) photos developed, \(done.counts.failed) failed")
        for failure in try await client.failures(of: batch.id) { print("photo \(failure.index): \(failure.json)") }
    }

    /// Prints until the batch has told its end, or the task is cancelled.
    static func printEvents(_ events: EventStream.Iterator) async {
        var events = events
        while let observation = await events.next() {
            switch observation {
            case .event(let event): print("event:", event.kind)
            case .missed(let count): print("\(count) events came too fast")
            case .disconnected(let error): print("Redis is away:", error)
            case .subscribed: print("Redis is back")
            }
        }
    }

    static func leave(_ status: Int32, _ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(status)
    }
}
