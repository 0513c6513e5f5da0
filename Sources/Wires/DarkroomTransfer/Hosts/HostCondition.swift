/// The facts that are known about a host, and the requests that it may get now. A plain value whose methods get the
/// time as an argument, so that tests need no server.
struct HostCondition {
    enum State: Equatable {
        case unknown
        case up
        /// The host has refused requests.
        case paused(until: ContinuousClock.Instant)
        /// The host has not answered several requests in a row. At `next`, a single request tries whether it answers
        /// again.
        case down(since: ContinuousClock.Instant, next: ContinuousClock.Instant)
        /// The host has sent several bodies in a row too slowly, or several bodies have stalled and none was completed.
        /// At `next`, a single request tries again.
        case slow(next: ContinuousClock.Instant)
    }

    /// The reason why the photos of a host fail.
    enum Verdict: Equatable { case unreachable, refuses, tooSlow }

    struct Rules {
        /// The time for which a host may be silent or refuse all requests before its photos fail.
        var patience = Duration.seconds(60)
        /// The largest number of requests at the same time; nil: ``ConnectionLimit`` learns this number.
        var perHost: Int?
        /// The shortest interval between two requests; nil: no such limit, unless the host refuses requests.
        var interval: Duration?
    }

    /// After this many attempts without an answer, the host is down.
    static let mostSilences = 3
    /// A lonely refusal is a status 503 although no other request was under way and the rate was low. After this many
    /// lonely refusals, a status 503 counts as a failure of the photo, and not as a refusal.
    private static let mostLonelyRefusals = 3
    /// After the first lonely refusal, a status 503 can count as a failure of the photo for this time.
    private static let lonelyTime = Duration.seconds(120)
    /// After this many bodies in a row that were sent too slowly, the host is slow.
    private static let mostSlow = 2
    /// The time for which the photos of a slow host fail without a further request.
    private static let slowPause = Duration.seconds(60)
    /// The rate after the first refusal, in requests per second. The rate is higher if the host has answered requests
    /// at more than twice this rate.
    private static let firstRate = 4.0
    private static let firstPause = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(8)
    private static let firstProbe = Duration.seconds(1)
    /// The pause between two probes of a host that is down grows to this value at first. After a minute, the pause
    /// grows with the time for which the host is down, to at most ``longestProbe``.
    private static let usualProbe = Duration.seconds(10)
    private static let longestProbe = Duration.seconds(300)
    /// The shortest pause that counts as a standstill. Shorter pauses only spread the requests. Operations with photos
    /// of the host are deferred if the rest of the pause is a little longer than this time, see
    /// `WorkerHooks.leastDeferral`.
    private static let leastStandstill = Duration.seconds(10)

    let rules: Rules
    /// The exchange with other workers; nil if this process does not share its hosts.
    var sharing: Sharing?
    var state = State.unknown
    private(set) var running = 0
    private(set) var firstBytes = FirstByteTimes()
    var connections = ConnectionLimit()
    /// Whether the host uses HTTP/2, according to its last response.
    private(set) var isMultiplexed = false
    var pace: RequestPace?
    /// The time at which the host answered last; before the first answer, the time at which the first attempt began.
    var lastAnswer: ContinuousClock.Instant?
    var silences = 0
    var slows = 0
    /// The number of responses that stalled since the last body that the host completed, and the times of the first and
    /// the last stall.
    private var stalls: (count: Int, first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
    /// The number of lonely refusals, see ``mostLonelyRefusals``.
    private var lonelyRefusals = 0
    private var lonelySince: ContinuousClock.Instant?
    /// Whether the host has answered since this worker began to learn its rate.
    private var hasAnsweredInPace = false
    /// The turn of the last request according to ``Rules/interval``: the time at which it began, or might have begun.
    var lastTurn: ContinuousClock.Instant?
    /// Whether the host has ever answered.
    private(set) var hasAnswered = false
    var probes = 0
    /// The number of refusals since the last answer. Refusals of simultaneous requests count once.
    var refusals = 0
    var lastRefusal: ContinuousClock.Instant?
    /// The numbers of answers in the current second, and in the last earlier second with answers.
    private var recent: (answers: Int, before: Int, since: ContinuousClock.Instant) = (0, 0, .now)

    init(_ rules: Rules) { self.rules = rules }

    /// The largest number of requests at the same time.
    var limit: Int { min(ownLimit, sharing?.permits ?? .max) }

    /// The limit that would apply if no other worker used the host.
    var ownLimit: Int {
        switch state {
        case .paused, .down, .slow: 1  // a single request tries whether the host answers
        case .unknown, .up: rules.perHost ?? connections.current
        }
    }

    var isLimitFixed: Bool { rules.perHost != nil }

    /// The largest number of requests per second; nil if there is no limit.
    var rate: Double? { [pace?.rate, fixedRate].compactMap(\.self).min() }

    var isRateFixed: Bool { fixedRate.map { $0 == rate } ?? false }

    private var fixedRate: Double? { rules.interval.map { .seconds(1) / $0 } }

    /// The time at which a further request may begin; nil if a running request must end first.
    func nextBegin(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard running < limit else { return nil }
        let opens =
            switch state {
            case .unknown, .up: now
            case .paused(let until): until
            case .down(_, let next), .slow(let next): next
            }
        return max(now, opens, pace?.next ?? now, nextInTurn ?? now)
    }

    /// The time at which the next request may begin according to ``Rules/interval``.
    private var nextInTurn: ContinuousClock.Instant? {
        guard let interval = rules.interval, let lastTurn else { return nil }
        return lastTurn + interval / part
    }

    mutating func began(_ now: ContinuousClock.Instant) {
        running += 1
        if lastAnswer == nil { lastAnswer = now }
        pace?.began(now)
        if rules.interval != nil { lastTurn = max(now, nextInTurn ?? now) }
    }

    /// Handles the end of an attempt.
    /// - Parameter start: the time at which the attempt began.
    mutating func ended(_ sign: HostSign, begun start: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        let isFull = running >= limit
        running -= 1
        if isTrouble(sign), !isTroubled { lastAnswer = max(lastAnswer ?? start, start) }
        switch sign {
        case .none: break
        case .answered(let time):
            hasAnswered = true
            // A request that was under way when the host refused other requests does not end the pause.
            if case .paused = state, let lastRefusal, start < lastRefusal {
                lastAnswer = now
                return
            }
            state = .up
            lastAnswer = now
            (silences, slows, probes, refusals) = (0, 0, 0, 0)
            if time > .zero {
                connections.answered(after: time, isFull: isFull)
                firstBytes.add(time)
            }
            pace?.answered(begun: start, now)
            hasAnsweredInPace = pace != nil
            if now - recent.since > .seconds(1) { recent = (0, recent.answers, now) }
            recent.answers += 1
        case .refused(let wait): refuse(wait, start, now)
        case .unavailable:
            guard !isPhotosFault(now) else { break }
            refuse(nil, start, now)
        case .slow:
            lastAnswer = now
            silences = 0
            slows += 1
            if slows >= Self.mostSlow, !isPaused(now) { state = .slow(next: now + Self.slowPause) }
        case .stalled:
            hasAnswered = true
            lastAnswer = now
            // As with an answer, a request that was under way during a refusal does not end the pause.
            if case .paused(let until) = state, until > now || lastRefusal.map({ start < $0 }) == true { return }
            (silences, probes, refusals) = (0, 0, 0)
            // If the previous stall was long ago, earlier stalls do not count.
            let earlier = stalls.flatMap { start > $0.last + rules.patience * 2 ? nil : $0 }
            let (count, first) = ((earlier?.count ?? 0) + 1, earlier?.first ?? now)
            stalls = (count, first, now)
            // Requests that are still under way may be fast.
            let isSlow = count >= max(Self.mostSilences, running) && now - first >= rules.patience
            state = isSlow ? .slow(next: now + Self.slowPause) : .up
        case .silent:
            silences += 1
            connections.halve()
            guard silences >= Self.mostSilences, !isPaused(now) else { return }
            probes += 1
            let since = if case .down(let since, _) = state { since } else { now }
            state = .down(since: since, next: now + probePause(since, now))
        }
    }

    /// The time until the next probe of a host that is down. This time grows with the time for which the host is down.
    private func probePause(_ since: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Duration {
        var longest = min((now - since) / 6, Self.longestProbe)
        // The last probe must come shortly before the patience is over.
        if let lastAnswer { longest = min(longest, lastAnswer + rules.patience - now) }
        longest = max(longest, Self.usualProbe)
        return min(longest, Self.firstProbe * (1 << min(probes - 1, 10)))
    }

    /// Must be called when the host has sent a complete body: earlier stalls no longer count.
    mutating func delivered() { stalls = nil }

    mutating func answered(isMultiplexed: Bool) {
        self.isMultiplexed = isMultiplexed
        connections.use(isMultiplexed: isMultiplexed)
    }

    private func isTrouble(_ sign: HostSign) -> Bool {
        switch sign {
        case .refused, .unavailable, .silent: true
        case .answered, .slow, .stalled, .none: false
        }
    }

    /// Whether the host has refused requests or was silent since its last answer. The patience begins with the first of
    /// these requests.
    var isTroubled: Bool {
        if case .down = state { return true }
        return refusals > 0 || silences > 0
    }

    /// Whether the host has asked for a pause that is not over.
    func isPaused(_ now: ContinuousClock.Instant) -> Bool {
        if case .paused(let until) = state { until > now } else { false }
    }

    /// The time until which the host gets no requests because it does not answer, or has asked for a long pause; nil if
    /// it gets requests.
    var standstill: ContinuousClock.Instant? {
        switch state {
        case .unknown, .up, .slow: nil
        case .paused(let until): lastRefusal.map { until - $0 >= Self.leastStandstill } == true ? until : nil
        case .down(_, let next): next
        }
    }

    /// Whether a status 503 of the host concerns a single photo, because the host sends this status however few
    /// requests it gets. If so, the status says nothing about the rate.
    private mutating func isPhotosFault(_ now: ContinuousClock.Instant) -> Bool {
        if let lonelySince, now - lonelySince > Self.lonelyTime { (lonelyRefusals, self.lonelySince) = (0, nil) }
        if lonelyRefusals < Self.mostLonelyRefusals, running == 0, part == 1, let pace, pace.rate <= Self.firstRate,
            hasAnsweredInPace
        {
            lonelyRefusals += 1
            lonelySince = lonelySince ?? now
            if lonelyRefusals == Self.mostLonelyRefusals {
                self.pace = nil
                state = .up
            }
        }
        return lonelyRefusals == Self.mostLonelyRefusals
    }

    private mutating func refuse(_ wait: Duration?, _ start: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        let isNew = lastRefusal.map { start >= $0 } ?? true
        silences = 0
        if isNew {
            refusals += 1
            lastRefusal = now
            if pace == nil { connections.halve() }
        }
        let pause = wait ?? min(Self.longestPause, Self.firstPause * (1 << min(max(0, refusals - 1), 8)))
        var until = now + pause
        if case .paused(let earlier) = state { until = max(until, earlier) }
        state = .paused(until: until)
        guard isNew else { return }
        let measured = Double(max(recent.answers, recent.before)) / part
        // While few photos wait, the pace may have grown far beyond the rate at which requests were sent.
        pace?.lower(to: max(Self.firstRate, measured * 4))
        if pace == nil {
            pace = RequestPace(rate: max(Self.firstRate, measured / 2), part: part, resume: until)
        } else if refusals == 1 {
            pace?.refused(begun: start, resume: until)
        } else {
            pace?.pause(until: until)
        }
    }

    /// The reason why the photos of the host fail now; nil if they may be downloaded. The verdict ends when the host
    /// may get a request again.
    func verdict(_ now: ContinuousClock.Instant) -> Verdict? {
        guard let lastAnswer else { return nil }
        switch state {
        case .unknown, .up: return nil
        case .paused(let until): return until - lastAnswer > rules.patience && until > now ? .refuses : nil
        case .down(_, let next): return next - lastAnswer > rules.patience && next > now ? .unreachable : nil
        case .slow(let next): return next > now ? .tooSlow : nil
        }
    }
}
