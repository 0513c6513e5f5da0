import Darkroom

extension WorkerFacts {
    /// A worker that was silent for longer is taken for dead: three heartbeats, and a little more.
    static let livesFor = Duration.seconds(10)

    /// Whether it was heard of lately; `now` is in ms of the Redis clock.
    func isLiving(now: Int) -> Bool { now - seen <= Self.livesFor.wholeMilliseconds }

    /// A number that it tells of itself, 0 when it does not.
    func number(_ field: String) -> Int { fields[field].flatMap { Int($0) } ?? 0 }

    /// The operations it holds, as `<batch>/<operation>`, at most 16 are told.
    var operations: [String] { fields["operations"]?.split(separator: " ").map(String.init) ?? [] }

    /// Why it does not take a batch; nil when it has not refused it.
    func refusal(of batch: BatchID) -> String? {
        // `<batch>: <reason>; <batch>: <reason>`, where a reason may have semicolons of its own.
        guard let refused = fields["refused"], let found = refused.firstRange(of: "\(batch): ") else { return nil }
        let rest = refused[found.upperBound...]
        let end = rest.firstRange(of: #/; \d{8}-\d{9}-[0-9a-f]{4}: /#)?.lowerBound ?? rest.endIndex
        return String(rest[..<end])
    }
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
