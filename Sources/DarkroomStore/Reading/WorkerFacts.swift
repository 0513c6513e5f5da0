import DarkroomModel

/// A worker as it describes itself in Redis.
public struct WorkerFacts: Sendable, Equatable {
    /// The worker's id, new with every start.
    public let id: String
    /// When it was last heard of, in ms since 1970 of the Redis clock.
    public let seen: Int
    /// What it says of itself: host, pid, version, started, slots, what it runs, rates.
    public let fields: [String: String]
    /// Batches that it refuses without a reason in its fields, of those given to ``BatchStore/workers(refusing:)``.
    public internal(set) var refusedToo: Set<BatchID> = []

    /// A worker by what it says of itself.
    public init(id: String, seen: Int, fields: [String: String]) {
        self.id = id
        self.seen = seen
        self.fields = fields
    }
}

extension WorkerFacts {
    /// A worker that was silent for longer counts as dead: three heartbeats and 1 s.
    public static let livesFor = Duration.seconds(10)

    /// Whether it was heard of lately; `now` is in ms of the Redis clock.
    public func isLiving(now: Int) -> Bool { now - seen <= Self.livesFor.wholeMilliseconds }

    /// The longest text in which a worker says what it refuses and why; of more refusals it has the beginning.
    public static let mostRefusedText = 4000

    /// The reason why the worker refuses a batch; nil if no refusal is known.
    public func refusal(of batch: BatchID) -> String? {
        // `<batch>: <reason>; <batch>: <reason>`, where a reason may have semicolons of its own.
        guard let refused = fields["refused"], let found = refused.firstRange(of: "\(batch): ") else {
            return refusedToo.contains(batch) ? "it refuses too many batches to say why" : nil
        }
        let rest = refused[found.upperBound...]
        let end = rest.firstRange(of: #/; \d{8}-\d{9}-[0-9a-f]{4}: /#)?.lowerBound ?? rest.endIndex
        return String(rest[..<end])
    }
}
