import DarkroomModel

extension HostFacts {
    /// The state with its times: `down for 40 s, next try in 8 s`.
    package var stateText: String { [conditionText, nextText].compactMap(\.self).joined(separator: ", ") }

    /// The state without the next try: `down for 40 s`.
    var conditionText: String {
        switch state {
        case .up: "up"
        case .unknown: "no answer yet"
        case .slow: "too slow"
        case .paused: "paused"
        case .down: "down for \(Self.time(downMilliseconds))"
        }
    }

    /// `next try in 8 s`; nil if requests may begin now.
    var nextText: String? { nextMilliseconds.map { "next try \(Self.delay($0))" } }

    /// The remedies for photos that wait for the host or fail; empty if the host delays no photos.
    package var remedies: [Remedy] {
        switch state {
        case .down:
            let advice = "check the address and the server; its photos fail after the patience of the workers"
            return [.advice(advice), .retry(nil)]
        case .paused: return [.advice("wait: the host has refused requests"), .changeRate]
        case .slow: return [.acceptSlowerDownloads, .retry(nil)]
        case .up, .unknown:
            guard counts.waiting > 0 else { return [] }
            if isAllowedFixed, running >= allowed { return [.allowMoreConnections] }
            if isRateFixed { return [.changeRate] }
            return rate == nil ? [] : [.advice("wait: the host refuses more requests than this rate")]
        }
    }

    /// `in 8 s`, or `now`.
    static func delay(_ milliseconds: Int) -> String { milliseconds == 0 ? "now" : "in \(time(milliseconds))" }

    /// A time in whole seconds, rounded up: `8 s`, `3m 12s`.
    static func time(_ milliseconds: Int) -> String {
        let seconds = (milliseconds + 999) / 1000
        return seconds < 60 ? "\(seconds) s" : HumanText.duration(Double(seconds))
    }
}

extension HostFacts.Counts {
    /// The failures by reason, the most frequent first.
    package var failuresByCount: [(reason: FailureReason, count: Int)] {
        failures.map { (reason: $0.key, count: $0.value) }.sorted {
            ($0.count, $1.reason.word) > ($1.count, $0.reason.word)
        }
    }

    /// The failure reasons with their counts: `timeout 12, http-4xx 3`.
    package var reasonsText: String {
        failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }.joined(separator: ", ")
    }
}

extension HostList {
    /// The photos that wait for hosts that get no requests now: `37 photos wait for 3 hosts, next try in 12 s`; nil if
    /// there are none.
    package var waitText: String? {
        let held = hosts.filter { $0.state.isHeld && $0.counts.waiting > 0 }
        guard let first = held.first else { return nil }
        let photos = held.reduce(0) { $0 + $1.counts.waiting }
        let subject = HumanText.count(photos, of: "photo") + (photos == 1 ? " waits" : " wait")
        let object = held.count == 1 ? first.host : HumanText.count(held.count, of: "host")
        let next = held.compactMap(\.nextMilliseconds).min().map { ", next try \(HostFacts.delay($0))" } ?? ""
        return "\(subject) for \(object)\(next)"
    }
}
