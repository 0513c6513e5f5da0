import DarkroomModel

/// The facts of a worker in Redis.
package struct WorkerFacts: Sendable, Equatable {
    /// The worker's id, new with every start.
    package let id: String
    /// The time of its last claim or heartbeat, in ms since 1970 of the Redis clock.
    package let seen: Int
    /// Its facts: host, pid, version, start time, slots, running photos, rates.
    package let fields: [String: String]
    /// Batches that the worker refuses without a reason in its fields, among those given to ``BatchStore/workers(refusing:)``.
    package internal(set) var refusedToo: Set<BatchID> = []

    package init(id: String, seen: Int, fields: [String: String]) {
        self.id = id
        self.seen = seen
        self.fields = fields
    }
}

extension WorkerFacts {
    /// The time without a claim or heartbeat after which a worker counts as lost: three heartbeats and 1 s.
    package static let livesFor = Duration.seconds(10)

    /// Whether the worker counts as running; `now` is in ms of the Redis clock.
    package func isLiving(now: Int) -> Bool { now - seen <= Self.livesFor.wholeMilliseconds }

    /// The most characters of the fact `refused`. A longer text is truncated.
    package static let mostRefusedText = 4000

    /// The reason why the worker refuses a batch; nil if no refusal is known.
    package func refusal(of batch: BatchID) -> String? {
        // `<batch>: <reason>; <batch>: <reason>`, where a reason may contain semicolons.
        guard let refused = fields["refused"], let found = refused.firstRange(of: "\(batch): ") else {
            return refusedToo.contains(batch) ? "its reason is not known, because it refuses too many batches" : nil
        }
        let rest = refused[found.upperBound...]
        let end = rest.firstRange(of: #/; \d{8}-\d{9}-[0-9a-f]{4}: /#)?.lowerBound ?? rest.endIndex
        return String(rest[..<end])
    }
}
