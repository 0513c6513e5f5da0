import Darkroom

extension WorkerFacts {
    /// A number that it tells of itself, 0 when it does not, or when it is out of bounds. The bounds leave room for the sum of all
    /// workers.
    func number(_ field: String) -> Int {
        fields[field].flatMap { Int($0) }.flatMap { (0...(1 << 43)).contains($0) ? $0 : nil } ?? 0
    }

    /// The operations it holds, as `<batch>/<operation>`, at most 16 are told.
    var operations: [String] { fields["operations"]?.split(separator: " ").map(String.init) ?? [] }
}

extension JSON {
    /// The facts of a worker; `now` is in ms of the Redis clock.
    init(_ worker: WorkerFacts, now: Int) {
        self = [
            "id": .string(worker.id), "host": JSON(worker.fields["host"]), "pid": .int(worker.number("pid")),
            "version": JSON(worker.fields["version"]), "started": JSON(time: worker.number("started")),
            "seen": JSON(time: worker.seen), "living": .bool(worker.isLiving(now: now)),
            "downloads": .int(worker.number("downloads")), "filtrations": .int(worker.number("filtrations")),
            "downloading": .int(worker.number("downloading")), "filtering": .int(worker.number("filtering")),
            "bytesHeld": .int(worker.number("bytes.held")), "photos": .int(worker.number("photos")),
            "photosPerSecond": .int(worker.number("rate")), "operations": .array(worker.operations.map(JSON.string)),
            "refused": .string(worker.fields["refused"] ?? ""),
        ]
    }
}
