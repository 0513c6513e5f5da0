import DarkroomHosts

/// The exchange of what is known about a host with other workers, so that a host never gets more requests from all of them
/// than from one.
extension HostCondition {
    struct Sharing {
        /// How many requests this worker may have under way.
        var permits = 0
        /// The number of workers that use the host.
        var users = 1
        /// Whether a worker waits for its share of the permits.
        var isContended = false
        /// The number of the state that the other workers know.
        fileprivate var version = 0
        /// What the other workers know.
        fileprivate var known = Learned()
    }

    /// What a worker learns about a host, and other workers want to know.
    struct Learned: Equatable {
        fileprivate var limit: Int?
        /// In requests per 1,000 s.
        fileprivate var rate: Int?
        fileprivate var state = State.unknown
    }

    /// The number of workers that use the host.
    var users: Int { sharing?.users ?? 1 }

    private var learned: Learned {
        Learned(
            limit: rules.perHost == nil ? connections.current : nil, rate: pace.map { Int($0.rate * 1000) },
            state: state)
    }

    /// Whether there is something that the other workers do not know.
    var hasNews: Bool {
        guard let known = sharing?.known else { return false }
        let learned = learned
        return isNews(learned.state, known.state) || change(known.limit, learned.limit) != nil
            || change(known.rate, learned.rate) != nil
    }

    /// A host that was never in trouble is no news.
    private func isNews(_ state: State, _ known: State) -> Bool {
        switch (state, known) {
        case (.unknown, _), (.up, .unknown), (.up, .up): false
        default: state != known
        }
    }

    /// A change by less than a fiftieth is none.
    private func change(_ old: Int?, _ new: Int?) -> HostUse.Change? {
        guard let new, new != old else { return nil }
        guard let old else { return .lowered(to: new) }
        guard abs(new - old) * 50 > old else { return nil }
        return new > old ? .raised(to: new) : .lowered(to: new)
    }

    /// What to tell the other workers, and what they will know then.
    /// - Parameter wanted: how many requests this worker would have under way; 0 if it no longer needs the host.
    func use(_ host: String, wanted: Int, _ now: ContinuousClock.Instant) -> (use: HostUse, learned: Learned) {
        let most = rules.perHost ?? ConnectionLimit.mostStreams
        var use = HostUse(host: host, limit: rules.perHost ?? connections.current, most: most)
        use.running = running
        use.wanted = min(wanted, HostUse.mostRequests)
        let learned = learned
        let known = sharing?.known ?? Learned()
        if known.limit != nil { use.limitChange = change(known.limit, learned.limit) }
        use.rateChange = change(known.rate, learned.rate)
        if isNews(learned.state, known.state) {
            use.state = sharedState(now)
            use.answered = lastAnswer.map { max(.zero, now - $0) }
        }
        return (use, learned)
    }

    private func sharedState(_ now: ContinuousClock.Instant) -> SharedHostState {
        switch state {
        case .unknown, .up: .up
        case .paused(let until):
            .troubled(.paused, since: .zero, next: max(.zero, until - now), count: refusals)
        case .down(let since, let next):
            .troubled(.down, since: max(.zero, now - since), next: max(.zero, next - now), count: probes)
        case .slow(let next): .troubled(.slow, since: .zero, next: max(.zero, next - now), count: slows)
        }
    }

    /// Handles the reply to an exchange.
    /// - Parameter sent: what was told in the exchange. What this worker has learned since is newer than the reply.
    mutating func apply(_ share: HostShare, sent: Learned, _ now: ContinuousClock.Instant) {
        guard var sharing else { return }
        let learned = learned
        (sharing.permits, sharing.users, sharing.isContended) = (share.permits, share.users, share.isContended)
        pace?.users = share.users
        if let limit = share.limit, rules.perHost == nil {
            if learned.limit == sent.limit { connections.adopt(limit) }
            sharing.known.limit = limit
        }
        if let rate = share.rate {
            if learned.rate == sent.rate, change(learned.rate, rate) != nil {
                if pace == nil { pace = RequestPace(rate: Double(rate) / 1000, users: share.users, resume: now) }
                pace?.adopt(rate: Double(rate) / 1000, now)
            }
            sharing.known.rate = rate
        }
        if share.version != sharing.version {
            sharing.version = share.version
            let isNewer = state != sent.state
            if !isNewer { adopt(share.state, answered: share.answered, now) }
            sharing.known.state = share.state == nil ? .unknown : isNewer ? sent.state : state
        }
        self.sharing = sharing
    }

    private mutating func adopt(_ shared: SharedHostState?, answered: Duration?, _ now: ContinuousClock.Instant) {
        guard let shared else { return }
        if let answered { lastAnswer = max(lastAnswer ?? now - answered, now - answered) }
        switch shared {
        case .up:
            guard state != .unknown else { return }
            state = .up
            (silences, slows, probes, refusals) = (0, 0, 0, 0)
        case .troubled(let trouble, let since, let next, let count):
            lastAnswer = lastAnswer ?? now - since
            switch trouble {
            case .paused:
                state = .paused(until: now + next)
                refusals = max(1, refusals, count)
                lastRefusal = now
            case .down:
                state = .down(since: now - since, next: now + next)
                probes = max(probes, count)
            case .slow:
                state = .slow(next: now + next)
                slows = max(slows, count)
            }
        }
    }
}
