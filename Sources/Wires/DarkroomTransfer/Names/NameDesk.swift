/// The transfers that wait for the addresses of their hosts. If no name server answers a question, the desk asks again
/// until the patience is over. Only the engine's thread uses the desk.
final class NameDesk {
    private struct Wait {
        /// The transfers that wait, and transfers that have ended since they began to wait.
        var transfers: [Transfer] = []
        /// The number of transfers that wait.
        var count = 0
        let since: ContinuousClock.Instant
        /// The pause before the next question. It doubles with each question without an answer.
        var pause = NameCache.failed
    }

    private static let longestPause = Duration.seconds(16)

    private let patience: Duration
    private let answers = Answers()
    private let resolver: NameResolver
    private var waits: [String: Wait] = [:]
    /// The names that the desk will ask for again, and the times of these questions.
    private var retries = Timeline<String>()

    /// The answers that the resolver has given since the last call of ``NameDesk/run(_:)``.
    private final class Answers {
        var new: [(name: String, answer: NameCache.Answer)] = []
    }

    /// - Parameter servers: the addresses of name servers with optional ports, separated by commas; nil: the servers in
    ///   `/etc/resolv.conf`.
    init(servers: String?, patience: Duration) {
        self.patience = patience
        resolver = NameResolver(servers: servers) { [answers] in answers.new.append(($0, $1)) }
    }

    /// A descriptor that is readable when ``run(_:)`` must be called.
    var descriptor: Int32 { resolver.descriptor }

    /// The time at which ``run(_:)`` must be called even if ``descriptor`` is not readable; nil if never.
    var nextTime: ContinuousClock.Instant? {
        [retries.nextTime, resolver.nextTimeout()].compactMap { $0 }.min()
    }

    /// The answer for a host name; nil if it is not known.
    func known(_ name: String, _ now: ContinuousClock.Instant) -> NameCache.Answer? { resolver.known(name, at: now) }

    /// Returns the answer for the host name of a transfer if it is known. Otherwise returns nil, and ``run(_:)``
    /// returns the answer later.
    func ask(_ name: String, for transfer: Transfer, _ now: ContinuousClock.Instant) -> NameCache.Answer? {
        if waits[name] == nil {
            switch resolver.answer(for: name, priority: transfer.order.level, at: now) {
            case .failure(.noAnswer): retries.add(name, at: now + NameCache.failed)  // the last question was just now
            case .some(let answer): return answer
            case nil: break
            }
        } else {
            hurry(name, transfer.order, now)
        }
        waits[name, default: Wait(since: now)].transfers.append(transfer)
        waits[name]?.count += 1
        return nil
    }

    /// Must be called when a transfer that waits for `name` gets this order.
    func hurry(_ name: String, _ order: TransferOrder, _ now: ContinuousClock.Instant) {
        _ = resolver.answer(for: name, priority: order.level, at: now)
    }

    /// Must be called when a transfer that waits for `name` has ended.
    func leave(_ name: String) {
        waits[name]?.count -= 1
        guard waits[name]?.count == 0 else { return }
        waits[name] = nil
        resolver.abandon(name)
    }

    /// Returns the transfers whose host names have been answered. Some of these transfers may have ended.
    func run(_ now: ContinuousClock.Instant) -> [(Transfer, NameCache.Answer)] {
        resolver.run(now)
        while let (_, name) = retries.popDue(now) {
            guard let wait = waits[name] else { continue }
            let level = wait.transfers.map(\.order.level).max() ?? 0
            if let answer = resolver.answer(for: name, priority: level, at: now) { answers.new.append((name, answer)) }
        }
        let new = answers.new
        answers.new = []
        return new.flatMap { name, answer in end(name, answer, now) }
    }

    private func end(
        _ name: String, _ answer: NameCache.Answer, _ now: ContinuousClock.Instant
    ) -> [(Transfer, NameCache.Answer)] {
        guard let wait = waits[name] else { return [] }
        if case .failure(.noAnswer) = answer, now + wait.pause - wait.since < patience {
            retries.add(name, at: now + wait.pause)
            waits[name]?.pause = min(wait.pause * 2, Self.longestPause)
            return []
        }
        waits[name] = nil
        return wait.transfers.map { ($0, answer) }
    }
}

extension TransferOrder {
    /// The level of the order. Host names of transfers with a higher level are asked for first.
    fileprivate var level: Int { priority * 2 + (isFirst ? 1 : 0) }
}

extension NameError {
    func detail(_ host: String) -> String {
        switch self {
        case .notFound: "the name \(host) does not exist or has no address"
        case .noAnswer(let text): "no name server has answered for \(host): \(text)"
        }
    }
}
