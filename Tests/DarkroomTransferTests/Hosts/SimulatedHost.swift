@testable import DarkroomTransfer

/// Gets photos of a host by the rules of a `HostCondition`, with a simulated clock.
struct SimulatedHost {
    /// What the host does with a request that arrives at a time.
    typealias Answer = (_ second: Double, _ running: Int) -> (sign: HostSign, seconds: Double)

    struct Result: Equatable {
        /// When the last photo was there; nil if the photos failed.
        var end: Double?
        var verdict: HostCondition.Verdict?
        var verdictAt: Double?
        var requests: [Double] = []
        var refused = 0
        var mostAtOnce = 0
    }

    /// - Parameter answer: what the host does.
    static func get(_ photos: Int, _ rules: HostCondition.Rules = .init(), answer: Answer) -> (Result, HostCondition) {
        let zero = ContinuousClock.now
        var condition = HostCondition(rules)
        var result = Result()
        var missing = photos
        var running: [(end: Double, start: Double, sign: HostSign)] = []
        var now = 0.0
        func time(_ second: Double) -> ContinuousClock.Instant { zero + .seconds(second) }
        while missing > 0 {
            while missing > running.count, let next = condition.nextBegin(time(now)), next <= time(now) {
                condition.began(time(now))
                let (sign, seconds) = answer(now, running.count)
                running.append((now + seconds, now, sign))
                result.requests.append(now)
                result.mostAtOnce = max(result.mostAtOnce, running.count)
            }
            if let verdict = condition.verdict(time(now)) {
                (result.verdict, result.verdictAt) = (verdict, now)
                return (result, condition)
            }
            var times = running.map(\.end)
            if missing > running.count, let next = condition.nextBegin(time(now)) {
                times.append((next - zero) / .seconds(1))
            }
            guard let next = times.min() else { return (result, condition) }
            now = max(now, next) + 1e-6  // against rounding
            running.sort { $0.end < $1.end }
            while let first = running.first, first.end <= now {
                running.removeFirst()
                condition.ended(first.sign, begun: time(first.start), time(now))
                switch first.sign {
                case .answered: missing -= 1
                case .refused, .unavailable: result.refused += 1
                case .silent, .slow, .stalled, .none: break
                }
            }
        }
        result.end = now
        return (result, condition)
    }
}
