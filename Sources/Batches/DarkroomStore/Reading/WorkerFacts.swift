import DarkroomModel

/// The facts about a worker in Redis.
package struct WorkerFacts: Sendable, Equatable {
    /// The id of the worker. Each start of a worker creates a new id.
    package let id: String
    /// The time of the last claim or heartbeat: Redis time, in milliseconds since 1970.
    package let seen: Int
    /// Facts that the worker reports: host, process id, version, start time, slots, running photos, rates.
    package let fields: [String: String]
    /// The refused batches, parsed from the text `refused` in `fields`.
    let refusals: [BatchID: Refusal]
    /// If the text `refused` in `fields` may be truncated, the refused batches; else empty. Only
    /// ``BatchStore/workers(refusing:knowing:)`` fills this set.
    package internal(set) var refusedToo: Set<BatchID> = []

    package init(id: String, seen: Int, fields: [String: String]) {
        self.id = id
        self.seen = seen
        self.fields = fields
        refusals = Self.refusals(in: fields["refused"] ?? "")
    }
}

extension WorkerFacts {
    /// The time without a claim or heartbeat after which a worker counts as lost: 2.5 times the interval that the
    /// worker reports, at least 10 s and at most a minute. The minimum is three usual intervals of 3 s, plus 1 s.
    package var livesFor: Duration {
        let interval = Duration.milliseconds(min(max(0, fields["interval"].flatMap { Int($0) } ?? 0), 24_000))
        return max(.seconds(10), interval * 5 / 2)
    }

    /// Whether the worker counts as running. `now` is Redis time, in milliseconds. A heartbeat in the future was sent
    /// before the clock of Redis was set back, so it does not show that the worker is running.
    package func isLiving(now: Int) -> Bool { abs(now - seen) <= livesFor.wholeMilliseconds }

    /// The time since the last claim or heartbeat, as text for users.
    package func seenText(now: Int) -> String {
        let silent = Double(max(0, now - seen)) / 1000
        let isEarly = seen - now > livesFor.wholeMilliseconds
        let text = isEarly ? "seen before the clock of Redis was set back" : "\(HumanText.duration(silent)) ago"
        return isLiving(now: now) ? text : "lost, \(text)"
    }
}
