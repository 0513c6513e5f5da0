/// A host whose transfers wait, run or have ended, at one point in time.
package struct HostReport: Sendable {
    package enum State: Sendable, Equatable {
        /// The host has not answered yet.
        case unknown
        case up
        /// The host has refused requests.
        case paused(until: ContinuousClock.Instant)
        /// The host does not answer. At `next`, a single request tries whether it answers again.
        case down(since: ContinuousClock.Instant, next: ContinuousClock.Instant)
        /// The host has sent several bodies too slowly. At `next`, a single request tries whether it is still slow.
        case slow(next: ContinuousClock.Instant)

        package var word: String {
            switch self {
            case .unknown: "unknown"
            case .up: "up"
            case .paused: "paused"
            case .down: "down"
            case .slow: "slow"
            }
        }
    }

    /// The numbers of transfers of one group.
    package struct Counts: Sendable, Equatable {
        /// The number of transfers that wait for the addresses of the host, for their turn, or for their next attempt.
        package var waiting = 0
        /// The number of transfers that have ended with a body.
        package var downloaded = 0
        /// The numbers of transfers that have failed, by code. A cancelled transfer does not count.
        package var failed: [TransferError.Code: Int] = [:]

        /// The largest number of codes. Without this limit, a server could cause any number of codes, because codes
        /// contain the status of the response.
        private static let mostCodes = 32

        var ended: Int { failed.values.reduce(downloaded, +) }

        mutating func count(_ code: TransferError.Code, _ number: Int = 1) {
            failed[failed.count < Self.mostCodes || failed[code] != nil ? code : .other, default: 0] += number
        }

        mutating func add(_ other: Counts) {
            waiting += other.waiting
            downloaded += other.downloaded
            for (code, number) in other.failed { count(code, number) }
        }
    }

    package let host: String
    package var state = State.unknown
    /// The number of requests under way.
    package var running = 0
    /// The largest number of requests at the same time.
    package var allowed = 0
    /// Whether ``TransferConfiguration/perHost`` sets `allowed`.
    package var isAllowedFixed = false
    /// The largest number of requests per second; nil if there is no limit.
    package var rate: Double?
    /// Whether ``TransferConfiguration/rate`` sets `rate`.
    package var isRateFixed = false
    /// The time from a request to the first byte: the median, and the 95th percentile as `most`; nil without answers.
    package var firstByte: (median: Duration, most: Duration)?
    /// The numbers of transfers by group, see ``TransferOrder/group``.
    package var groups: [String: Counts]

    var waiting: Int { groups.values.reduce(0) { $0 + $1.waiting } }

    init(_ host: String, _ condition: HostCondition?, _ groups: [String: Counts]) {
        self.host = host
        self.groups = groups
        guard let condition else { return }
        state =
            switch condition.state {
            case .unknown: .unknown
            case .up: .up
            case .paused(let until): .paused(until: until)
            case .down(let since, let next): .down(since: since, next: next)
            case .slow(let next): .slow(next: next)
            }
        running = condition.running
        allowed = condition.limit
        (rate, isRateFixed) = (condition.rate, condition.isRateFixed)
        isAllowedFixed = condition.isLimitFixed
        if let median = condition.firstBytes.quantile(0.5), let most = condition.firstBytes.quantile(0.95) {
            firstByte = (median, most)
        }
    }

    /// The severity of the state. The number is larger if the state delays transfers more.
    private var severity: Int {
        switch state {
        case .down: 3
        case .paused: 2
        case .slow: 1
        case .unknown, .up: 0
        }
    }

    /// The rank of the host. Hosts with more waiting transfers have higher ranks.
    private var rank: (waiting: Int, severity: Int, ended: Int) {
        (waiting, severity, groups.values.reduce(0) { $0 + $1.ended })
    }

    /// The `most` hosts with the highest ranks, in descending order, and the sum of the counts of all other hosts.
    static func top(_ most: Int, of reports: [HostReport]) -> (first: [HostReport], others: [String: Counts]) {
        let sorted = reports.map { (report: $0, rank: $0.rank) }.sorted {
            $0.rank == $1.rank ? $0.report.host < $1.report.host : $0.rank > $1.rank
        }
        var others: [String: Counts] = [:]
        for (report, _) in sorted.dropFirst(most) {
            for (group, counts) in report.groups { others[group, default: Counts()].add(counts) }
        }
        return (sorted.prefix(most).map(\.report), others)
    }
}

/// The hosts of an engine at one point in time.
package struct HostOverview: Sendable {
    /// At most ``most`` hosts, in descending order of their numbers of waiting transfers.
    package internal(set) var hosts: [HostReport] = []
    /// The numbers of transfers of the hosts that are not in ``hosts``, added up for each group.
    package internal(set) var others: [String: HostReport.Counts] = [:]
    /// The number of hosts in each state, and the number of transfers that wait for these hosts. The keys are
    /// ``HostReport/State/word``.
    package internal(set) var states: [String: (hosts: Int, waiting: Int)] = [:]

    package static let most = 64

    package init() {}

    init(_ reports: [HostReport], others: [String: HostReport.Counts]) {
        let (first, rest) = HostReport.top(Self.most, of: reports)
        hosts = first
        for report in reports {
            states[report.state.word, default: (0, 0)].hosts += 1
            states[report.state.word, default: (0, 0)].waiting += report.waiting
        }
        self.others = others.merging(rest) { own, more in
            var sum = own
            sum.add(more)
            return sum
        }
    }
}
