import ArgumentParsing
import Darkroom

/// `darkroom watch`: a live view of one batch, or of all batches and workers.
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "watch", abstract: "Show a live view of a batch, or of all batches and workers.",
        discussion: """
            Keys on a terminal: s suspends or resumes the batch (or all workers), c cancels the batch (or all batches) \
            after a confirmation, q or Ctrl-C leaves the view. Only s and c change anything. In a pipe, or with \
            TERM=dumb, the command prints a line for each change, at most one per second.

            With a batch, the command returns when the batch has finished. Exit status: 0 if all photos succeeded, 3 \
            if photos failed, 4 if the batch was cancelled, 130 after Ctrl-C, 0 after q.
            """,
        group: "Monitor", synonyms: ["top", "progress", "tail"],
        examples: ["darkroom watch", "darkroom watch holidays"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name; by default all batches.")
    var batch: String?
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        // Must run before the first thread starts.
        let inbox = WatchInbox()
        WatchSession.receiveSignals(into: inbox)
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect { _ in }  // warnings would be printed into the view
        let watched = try batch.map { try client.store.batch(named: $0).id }
        let canDraw = WatchTerminal.canDraw
        let model = WatchModel(
            redis: client.location.description, namespace: redis.namespace, watched: watched,
            hasKeys: canDraw && WatchTerminal.hasKeys, run: redis.run)
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
