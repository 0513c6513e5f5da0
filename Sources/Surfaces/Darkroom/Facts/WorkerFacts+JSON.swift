import DarkroomStore

extension JSON {
    /// The facts of a worker; `now` is the Redis time in milliseconds since 1970.
    package init(_ worker: WorkerFacts, now: Int) {
        self = [
            "id": .string(worker.id), "host": JSON(worker.fields["host"]), "pid": .int(worker.number("pid")),
            "version": JSON(worker.fields["version"]), "started": JSON(time: worker.number("started")),
            "seen": JSON(time: worker.seen), "living": .bool(worker.isLiving(now: now)),
            "downloads": .int(worker.number("downloads")), "filtrations": .int(worker.number("filtrations")),
            "downloading": .int(worker.number("downloading")), "filtering": .int(worker.number("filtering")),
            "bytesHeld": .int(worker.number("bytes.held")), "photos": .int(worker.number("photos")),
            "photosPerSecond": .int(worker.number("rate")), "operations": .array(worker.operations.map(JSON.string)),
            "refused": .string(worker.refusedText),
        ]
    }
}
