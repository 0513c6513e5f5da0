/// Counts the transfers that have ended, by group and host. To bound the memory, the ledger keeps only the groups that
/// were used last. In each group, the ledger keeps the hosts with the largest numbers of transfers, and the sum of all
/// other hosts. The ledger also counts deferred transfers, which wait outside the engine. A plain value.
struct HostLedger {
    private struct Group {
        var hosts: [String: HostReport.Counts] = [:]
        var others = HostReport.Counts()
        var lastUse = 0
    }

    static let mostGroups = 64
    /// If a group has more hosts than this, half of this number are kept, and the counts of the others are added up.
    static let mostHosts = 128

    static let mostDeferred = 10_000

    private var groups: [String: Group] = [:]
    private var uses = 0
    /// The numbers of deferred transfers. They count until the time `due`.
    private var deferred: ArraySlice<(host: String, group: String, count: Int, due: ContinuousClock.Instant)> = []

    /// - Parameter failure: the reason why the transfer failed; nil if it has downloaded a body.
    mutating func count(_ host: String, group: String, failure: TransferError.Code? = nil) {
        guard !host.isEmpty, failure != .cancelled else { return }
        uses += 1
        var own = groups.removeValue(forKey: group) ?? Group()
        own.lastUse = uses
        if let failure {
            own.hosts[host, default: HostReport.Counts()].count(failure)
        } else {
            own.hosts[host, default: HostReport.Counts()].downloaded += 1
        }
        if own.hosts.count > Self.mostHosts {
            let sorted = own.hosts.sorted { ($0.value.ended, $1.key) > ($1.value.ended, $0.key) }
            for (_, counts) in sorted.dropFirst(Self.mostHosts / 2) { own.others.add(counts) }
            own.hosts = Dictionary(uniqueKeysWithValues: sorted.prefix(Self.mostHosts / 2).map { ($0.key, $0.value) })
        }
        groups[group] = own
        if groups.count > Self.mostGroups, let oldest = groups.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
            groups[oldest] = nil
        }
    }

    /// Counts deferred transfers, which this or another engine continues at `due`.
    mutating func count(
        deferred waiting: [String: Int], group: String, until due: ContinuousClock.Instant,
        _ now: ContinuousClock.Instant
    ) {
        deferred.removeAll { $0.due <= now }
        deferred += waiting.map { ($0.key, group, $0.value, due) }
        deferred = deferred.suffix(Self.mostDeferred)
    }

    /// The counts by host and group.
    func counts(_ now: ContinuousClock.Instant) -> [String: [String: HostReport.Counts]] {
        var all: [String: [String: HostReport.Counts]] = [:]
        for (group, own) in groups {
            for (host, counts) in own.hosts { all[host, default: [:]][group] = counts }
        }
        for (host, group, count, due) in deferred where due > now {
            all[host, default: [:]][group, default: HostReport.Counts()].waiting += count
        }
        return all
    }

    /// The counts of the hosts that are not in `counts`, by group.
    var others: [String: HostReport.Counts] { groups.mapValues(\.others).filter { $0.value.ended > 0 } }
}
