import DarkroomText

/// The facts about a worker that Redis has, so that a heartbeat sends only those that have changed.
struct SentFacts {
    private var values: [String: String] = [:]
    /// The time at which all facts were last sent; nil if all facts must be sent again.
    private var complete: ContinuousClock.Instant?
    /// The number of running workers.
    private var workers = 0

    /// The longest time between two messages with all facts. Another program may have changed the facts in Redis.
    private static let longest = Duration.seconds(60)

    /// The facts in one heartbeat.
    struct Message {
        let facts: [(field: String, value: String)]
        /// Whether these are all facts.
        let isComplete: Bool
        /// The time until the next heartbeat if the worker is idle and its facts have not changed; else nil.
        let rest: Duration?
    }

    /// The facts to send with the next heartbeat, including the time from this heartbeat to the following one.
    /// - Parameters:
    ///   - facts: all facts about the worker.
    ///   - isIdle: whether the worker holds no operation.
    func message(
        _ facts: [(field: String, value: String)], isIdle: Bool, _ now: ContinuousClock.Instant = .now
    ) -> Message {
        let isDue = complete.map { now - $0 >= Self.longest } ?? true
        let changed = facts.filter { values[$0.field] != $0.value }
        let rest = isIdle && changed.isEmpty ? HeartbeatLoop.rest(workers: workers) : nil
        let interval = (field: "interval", value: String((rest ?? .seconds(3)).wholeMilliseconds))
        if isDue { return Message(facts: facts + [interval], isComplete: true, rest: rest) }
        let all = values["interval"] == interval.value ? changed : changed + [interval]
        return Message(facts: all, isComplete: false, rest: rest)
    }

    /// Records that Redis has answered the heartbeat with this message.
    mutating func sent(_ message: Message, workers: Int, _ now: ContinuousClock.Instant = .now) {
        if message.isComplete { complete = now }
        for (field, value) in message.facts { values[field] = value }
        self.workers = workers
    }

    /// Records that Redis may have lost the facts.
    mutating func forget() {
        values = [:]
        complete = nil
    }
}
