import ArgumentParsing
import Darkroom

/// `darkroom watch`: a live view of one batch or of all.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "watch", abstract: "Watch a batch, or all of them and the workers, live.",
        discussion: """
            On a terminal: s suspends and resumes the batch (or all workers), c cancels it (or all batches) after \
            asking, q or Ctrl-C leaves; nothing but s and c changes anything. In a pipe, or with TERM=dumb, it prints \
            a line for each change, at most one a second.

            When a batch is named, it ends with the batch: with status 0 when all went well, 3 when photos failed, 4 \
            when it was cancelled. Ctrl-C ends it with 130, q with 0.
            """,
        group: "Monitor", synonyms: ["top", "progress", "tail"],
        examples: ["darkroom watch", "darkroom watch holidays"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name; all when none is named.")
    var batch: String?
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        // Before anything that starts a thread.
        let inbox = WatchInbox()
        WatchSession.receiveSignals(into: inbox)
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect { _ in }  // nothing may be printed beside the picture
        let watched = try batch.map { try client.store.batch(named: $0).id }
        let canDraw = WatchTerminal.canDraw
        let model = WatchModel(
            redis: client.location.description, namespace: redis.namespace, watched: watched,
            hasKeys: canDraw && WatchTerminal.hasKeys)
        let source = WatchSource(client, watched: watched, inbox: inbox)
        defer { source.close() }
        if canDraw {
            var session = WatchSession(model, source, inbox)
            throw try session.run()
        }
        var lines = WatchLines(model, inbox, output: StandardOutput())
        throw try lines.run()
    }
}
