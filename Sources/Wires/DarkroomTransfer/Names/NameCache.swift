/// What name servers have answered, until it expires. A plain value, so that it is tested without a server.
struct NameCache {
    typealias Answer = Result<[IPAddress], NameError>

    /// Even if a server allows less, an answer is used for this long, so that the photos of a host do not ask one by one.
    static let shortest = Duration.seconds(5)
    static let longest = Duration.seconds(3600)
    /// How long an answer without an address is used.
    static let missing = Duration.seconds(60)
    /// How long the resolver waits before it looks up a name again that no server has answered.
    static let failed = Duration.seconds(2)

    private let limit: Int
    private var answers: [String: (answer: Answer, until: ContinuousClock.Instant)] = [:]
    /// The names in the order in which they were added, as a ring.
    private var names: [String] = []
    private var oldest = 0

    /// - Parameter limit: the largest number of names; the oldest are forgotten first.
    init(limit: Int = 20_000) { self.limit = limit }

    var count: Int { answers.count }

    func answer(for name: String, at now: ContinuousClock.Instant) -> Answer? {
        guard let (answer, until) = answers[name], now < until else { return nil }
        return answer
    }

    /// - Parameter lifetime: how long the addresses are valid, according to the server.
    mutating func keep(_ answer: Answer, for name: String, lifetime: Duration, at now: ContinuousClock.Instant) {
        let allowed: Duration =
            switch answer {
            case .success: max(Self.shortest, min(lifetime, Self.longest))
            case .failure(.notFound): Self.missing
            case .failure(.noAnswer): Self.failed
            }
        guard answers.updateValue((answer, now + allowed), forKey: name) == nil else { return }
        guard names.count == limit else { return names.append(name) }
        answers[names[oldest]] = nil
        names[oldest] = name
        oldest = (oldest + 1) % limit
    }
}
