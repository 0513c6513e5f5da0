import DarkroomModel

/// The facts that one worker, or all workers together, know about a host.
package struct HostFacts: Sendable, Equatable {
    /// A state that delays photos more is greater.
    package enum State: String, Sendable, CaseIterable, Comparable {
        case up
        /// The host has not answered yet.
        case unknown
        /// The host has sent several photos too slowly or incompletely, so photos of this host fail.
        case slow
        /// The host has refused requests.
        case paused
        /// The host does not answer.
        case down

        package static func < (first: State, second: State) -> Bool {
            allCases.firstIndex(of: first)! < allCases.firstIndex(of: second)!  // all cases are in `allCases`
        }

        /// Whether the host gets no requests except a single one from time to time.
        package var isHeld: Bool { self >= .slow }
    }

    /// Numbers of photos.
    package struct Counts: Sendable, Equatable {
        /// The photos in workers whose downloads wait for the lookup of the host name, for a turn or for a download
        /// attempt.
        package var waiting = 0
        /// The photos that running workers have downloaded.
        package var downloaded = 0
        /// The photos whose downloads failed in running workers.
        package var failures: [FailureReason: Int] = [:]

        package init(waiting: Int = 0, downloaded: Int = 0, failures: [FailureReason: Int] = [:]) {
            self.waiting = waiting
            self.downloaded = downloaded
            self.failures = failures
        }

        package var failed: Int { failures.values.reduce(0, +) }

        var isEmpty: Bool { waiting == 0 && downloaded == 0 && failed == 0 }

        mutating func add(_ other: Counts) {
            waiting += other.waiting
            downloaded += other.downloaded
            failures.merge(other.failures, uniquingKeysWith: +)
        }
    }

    /// The maximum length of a host name, in bytes.
    static let mostNameBytes = 253

    package let host: String
    package var state: State
    /// The time since the host went down, in milliseconds; 0 in other states.
    package var downMilliseconds = 0
    /// The time until a single request tries the host again, in milliseconds; nil if requests may begin now.
    package var nextMilliseconds: Int?
    /// The number of requests that run now.
    package var running = 0
    /// The maximum number of requests at the same time.
    package var allowed = 0
    /// Whether `--per-host` sets `allowed`.
    package var isAllowedFixed = false
    /// The maximum number of requests per second; nil if there is none.
    package var rate: Double?
    /// Whether `--rate` sets `rate`.
    package var isRateFixed = false
    /// The median time from a request to the first byte of the reply, in milliseconds; nil if it is not known.
    package var medianMilliseconds: Int?
    /// The 95th percentile of the time from a request to the first byte of the reply, in milliseconds; nil if it is not
    /// known.
    package var mostMilliseconds: Int?
    /// The photo counts by batch.
    package var batches: [BatchID: Counts] = [:]

    package init(host: String, state: State) {
        self.host = host
        self.state = state
    }

    /// The photo counts of all batches, added up.
    package var counts: Counts { batches.values.reduce(into: Counts()) { $0.add($1) } }

    /// Whether a text can be a host name: visible ASCII characters except those that separate the entries of the fact
    /// `hosts`, and not only `*`.
    static func isName(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.count <= mostNameBytes
            && host.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ";") } && host != "*"
    }

    /// Adds the facts of another worker about the same host. Keeps the state that delays photos more, and the longer
    /// times to the first byte; adds up the numbers of requests and photos.
    mutating func add(_ other: HostFacts) {
        if other.state > state {
            (state, downMilliseconds, nextMilliseconds) = (other.state, other.downMilliseconds, other.nextMilliseconds)
        } else if other.state == state {
            downMilliseconds = max(downMilliseconds, other.downMilliseconds)
            nextMilliseconds = [nextMilliseconds, other.nextMilliseconds].compactMap(\.self).min()
        }
        running += other.running
        allowed += other.allowed
        isAllowedFixed = isAllowedFixed || other.isAllowedFixed
        // Each rate applies to all workers together. If the workers have different estimates, the lowest counts.
        rate = [rate, other.rate].compactMap(\.self).min()
        isRateFixed = rate != nil && (isRateFixed || other.isRateFixed)
        medianMilliseconds = [medianMilliseconds, other.medianMilliseconds].compactMap(\.self).max()
        mostMilliseconds = [mostMilliseconds, other.mostMilliseconds].compactMap(\.self).max()
        batches.merge(other.batches) { own, more in
            var sum = own
            sum.add(more)
            return sum
        }
    }
}

/// The hosts of all running workers, in descending order of the number of photos that wait for the host.
package struct HostList: Sendable {
    /// The maximum number of hosts in a list. The photo counts of the other hosts are added up in ``others``.
    package static let most = 1000

    package let hosts: [HostFacts]
    /// The photo counts of the hosts that are not in ``hosts``, added up.
    package let others: HostFacts.Counts

    /// - Parameters:
    ///   - workers: the workers that Redis lists.
    ///   - now: Redis time, in milliseconds since 1970.
    ///   - batch: the batch whose photos are counted; nil for all batches. Hosts without photos of the batch are left out.
    package init(_ workers: [WorkerFacts], now: Int, of batch: BatchID? = nil) {
        var merged: [String: HostFacts] = [:]
        var others = HostFacts.Counts()
        for worker in workers where worker.isLiving(now: now) {
            let report = worker.hosts(now: now)
            for var host in report.hosts {
                if let batch { host.batches = host.batches.filter { $0.key == batch } }
                guard batch == nil || !host.batches.isEmpty else { continue }
                if merged[host.host]?.add(host) == nil { merged[host.host] = host }
            }
            for (id, counts) in report.others where batch.map({ $0 == id }) ?? true { others.add(counts) }
        }
        let sorted = merged.values.map { (facts: $0, counts: $0.counts) }.sorted { first, second in
            let (left, right) = (Self.rank(first), Self.rank(second))
            return left == right ? first.facts.host < second.facts.host : left > right
        }
        for (_, counts) in sorted.dropFirst(Self.most) { others.add(counts) }
        hosts = sorted.prefix(Self.most).map(\.facts)
        self.others = others
    }

    private static func rank(_ host: (facts: HostFacts, counts: HostFacts.Counts)) -> (Int, Int, Int) {
        let severity = host.facts.state.isHeld ? HostFacts.State.allCases.firstIndex(of: host.facts.state) ?? 0 : 0
        return (host.counts.waiting, severity, host.counts.downloaded + host.counts.failed)
    }

    package var isEmpty: Bool { hosts.isEmpty && others.isEmpty }
}
