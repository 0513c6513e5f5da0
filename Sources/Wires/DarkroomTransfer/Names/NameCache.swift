/// The answers of name servers, until they expire. A plain value, so that tests need no server.
struct NameCache {
    typealias Answer = Result<[IPAddress], NameError>

    /// The shortest time for which an answer is used, even if its lifetime is shorter. Without this minimum, each photo
    /// of a host could need a new question.
    static let shortest = Duration.seconds(5)
    static let longest = Duration.seconds(3600)
    /// The time for which an answer without an address is used.
    static let missing = Duration.seconds(60)
    /// If no server has answered for a name, the resolver waits for this time before it looks up the name again.
    static let failed = Duration.seconds(2)

    private let limit: Int
    private var answers: [String: (answer: Answer, until: ContinuousClock.Instant)] = [:]
    /// The names in the order in which they were added, as a ring buffer. The oldest name is at `oldest`.
    private var names: [String] = []
    private var oldest = 0

    /// - Parameter limit: the largest number of names. The oldest names are forgotten first.
    init(limit: Int = 20_000) { self.limit = limit }

    var count: Int { answers.count }

    func answer(for name: String, at now: ContinuousClock.Instant) -> Answer? {
        guard let (answer, until) = answers[name], now < until else { return nil }
        return answer
    }

    /// - Parameter lifetime: the time for which the addresses are valid, according to the server.
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
