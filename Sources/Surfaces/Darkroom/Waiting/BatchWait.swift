/// One wait for batches.
struct BatchWait {
    /// The batches; the result has the same order.
    let ids: [BatchID]
    let attempted: String
    let timeout: Duration?
    /// Whether the result leaves out batches that are not in Redis. If false, such a batch is an error.
    let ignoresGone: Bool
    let deadline: ContinuousClock.Instant?
    /// The batches that have not finished, each once, in the order of `ids`.
    private(set) var open: [BatchID]
    private var finished: [BatchID: BatchFacts] = [:]

    init(_ ids: [BatchID], timeout: Duration?, attempted: String, ignoresGone: Bool) {
        self.ids = ids
        self.attempted = attempted
        self.timeout = timeout
        self.ignoresGone = ignoresGone
        deadline = timeout.map { .now + $0 }
        var seen: Set<BatchID> = []
        open = ids.filter { seen.insert($0).inserted }
    }

    /// Whether `batches` contains all batches that have not finished.
    func isRead(in batches: Set<BatchID>) -> Bool { open.allSatisfy(batches.contains) }

    /// Processes facts that were read from Redis; returns the result once all batches have finished.
    /// - Throws: ``DarkroomError`` if a batch is damaged or is not in Redis.
    mutating func take(_ found: [BatchFacts]) throws -> [BatchFacts]? {
        let facts = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }
        var unfinished: [BatchID] = []
        for id in open {
            guard let facts = facts[id] else {
                if ignoresGone { continue }
                throw DarkroomError.gone(id, attempted)
            }
            guard facts.damage.isEmpty else { throw DarkroomError.damaged(facts, attempted) }
            if facts.state == .finished { finished[id] = facts } else { unfinished.append(id) }
        }
        open = unfinished
        return open.isEmpty ? ids.compactMap { finished[$0] } : nil
    }

    /// Throws if the timeout has passed.
    func checkDeadline() throws -> [BatchFacts]? {
        guard let deadline, deadline <= .now else { return nil }
        throw DarkroomError(
            .timedOut, attempted,
            "batch \(HumanText.list(open.map(\.description))) has not finished within \(timeout ?? .zero)",
            [.showProblems])
    }
}
