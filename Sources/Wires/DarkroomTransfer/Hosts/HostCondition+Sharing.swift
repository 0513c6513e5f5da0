import DarkroomHosts

/// The exchange of the condition of a host with other workers. All workers together never send a host more requests
/// than one worker alone would.
extension HostCondition {
    struct Sharing {
        /// The number of requests that this worker may have under way.
        var permits = 0
        /// The part of all permits that this worker has, which is also its part of the rate; from 0 to 1.
        var part = 1.0
        /// Whether a worker waits for its share of the permits.
        var isContended = false
        /// The number of the state that the other workers know.
        fileprivate var version = 0
        /// The facts that the other workers know.
        fileprivate var known = Learned()
    }

    /// The facts about a host that a worker learns and tells other workers.
    struct Learned: Equatable {
        fileprivate var limit: Int?
        /// The rate in requests per 1,000 s.
        fileprivate var rate: Int?
        fileprivate var state = State.unknown
    }

    /// This worker's part of the rate that the host allows.
    var part: Double { sharing?.part ?? 1 }

    private var learned: Learned {
        Learned(
            limit: rules.perHost == nil ? connections.current : nil, rate: pace.map { Int($0.rate * 1000) },
            state: state)
    }

    /// Whether this worker has learned a fact that the other workers do not know.
    var hasNews: Bool {
        guard let known = sharing?.known else { return false }
        let learned = learned
        return isNews(learned.state, known.state) || change(known.limit, learned.limit) != nil
            || change(known.rate, learned.rate) != nil
    }

    /// The state of a host that was never in trouble is not news. A host that is too slow is not news either, because
    /// the network of this worker may be slow.
    private func isNews(_ state: State, _ known: State) -> Bool {
        switch (state, known) {
        case (.slow, .down), (.slow, .paused): true  // the other workers must learn that the host answers
        case (.unknown, _), (.slow, _), (.up, .unknown), (.up, .slow), (.up, .up): false
        default: state != known
        }
    }

    /// The change of a number. A difference of 2 % or less does not count as a change.
    private func change(_ old: Int?, _ new: Int?) -> HostUse.Change? {
        guard new != old else { return nil }
        guard let new else { return .lowered(to: 0) }
        guard let old else { return .lowered(to: new) }
        guard abs(new - old) * 50 > old else { return nil }
        return new > old ? .raised(to: new) : .lowered(to: new)
    }

    /// The use to tell the other workers, and the facts that they will know after the exchange.
    /// - Parameter wanted: the number of requests that this worker wants to have under way; 0 if it needs none.
    func use(_ host: String, wanted: Int, _ now: ContinuousClock.Instant) -> (use: HostUse, learned: Learned) {
        let most = rules.perHost ?? ConnectionLimit.mostStreams
        var use = HostUse(host: host, limit: rules.perHost ?? connections.current, most: most)
        use.running = running
        use.wanted = min(wanted, HostUse.mostRequests)
        let learned = learned
        let known = sharing?.known ?? Learned()
        if known.limit != nil { use.limitChange = change(known.limit, learned.limit) }
        use.rateChange = change(known.rate, learned.rate)
        if isNews(learned.state, known.state) { use.state = sharedState(now) }
        if hasAnswered || use.state != nil { use.answered = lastAnswer.map { max(.zero, now - $0) } }
        return (use, learned)
    }

    private func sharedState(_ now: ContinuousClock.Instant) -> SharedHostState {
        switch state {
        case .unknown, .up, .slow: .up
        case .paused(let until):
            .troubled(.paused, since: .zero, next: max(.zero, until - now), count: refusals)
        case .down(let since, let next):
            .troubled(.down, since: max(.zero, now - since), next: max(.zero, next - now), count: probes)
        }
    }

    /// Handles the reply to an exchange.
    /// - Parameters:
    ///   - use: the use that was told in the exchange.
    ///   - sent: the facts that were learned before the exchange. Facts that this worker has learned since then are
    ///     newer than the reply.
    mutating func apply(_ share: HostShare, to use: HostUse, sent: Learned, _ now: ContinuousClock.Instant) {
        guard !share.isAlone, var sharing else {
            sharing = nil
            pace?.setPart(1, now)
            return
        }
        let learned = learned
        sharing.permits = share.permits
        sharing.isContended = share.isContended
        if share.permits > 0 { sharing.part = Double(share.permits) / Double(max(share.permits, share.all)) }
        pace?.setPart(sharing.part, now)
        // If a worker begins to share a host with other workers, its first request must wait for its turn.
        if sharing.part < 1, lastTurn == nil { lastTurn = now }
        if rules.perHost == nil {
            if let limit = share.limit, learned.limit == sent.limit { connections.adopt(limit) }
            sharing.known.limit = learned.limit == sent.limit ? connections.current : share.limit
        }
        if let rate = share.rate, learned.rate == sent.rate, change(learned.rate, rate) != nil {
            if pace == nil { pace = RequestPace(rate: Double(rate) / 1000, part: sharing.part, resume: now) }
            pace?.adopt(rate: Double(rate) / 1000, now)
        }
        sharing.known.rate = share.rate
        let isNewer = state != sent.state
        if share.version != sharing.version, use.state == nil, !isNewer {
            adopt(share.state, answered: share.answered, now)
            sharing.known.state = share.state == nil ? .unknown : state
        } else {
            if case .troubled(.paused, _, let next, _)? = share.state, use.state != nil,
                case .paused(let until) = state
            {
                state = .paused(until: max(until, now + next))  // another worker knows a longer pause
            }
            sharing.known.state = isNewer ? sent.state : state
        }
        sharing.version = share.version
        self.sharing = sharing
    }

    private mutating func adopt(_ shared: SharedHostState?, answered: Duration?, _ now: ContinuousClock.Instant) {
        let others = answered.map { now - $0 }
        switch shared {
        case nil: break
        case .up:
            guard state != .unknown else { return }
            state = .up
            (silences, slows, probes, refusals) = (0, 0, 0, 0)
        case .troubled(.paused, _, let next, let count):
            if !isPaused(now) { lastRefusal = now }
            state = .paused(until: now + next)
            refusals = max(1, refusals, count)
        case .troubled(.down, let since, let next, let count):
            // The host has answered this worker more recently, so only the network of the other worker is down.
            if hasAnswered, let lastAnswer, lastAnswer > (others ?? now - since) + .seconds(1) { return }
            state = .down(since: now - since, next: now + next)
            probes = max(probes, count)
            silences = max(silences, Self.mostSilences)
            lastAnswer = max(lastAnswer ?? now - since, others ?? now - since)
        }
        if let others { lastAnswer = max(lastAnswer ?? others, others) }
    }
}
