/// Counts the transfers that have ended, by group and host, in bounded memory: of each group the hosts with the most
/// transfers, and the sum of the others; of the groups those that were used last. A plain value.
struct HostLedger {
    private struct Group {
        var hosts: [String: HostReport.Counts] = [:]
        var others = HostReport.Counts()
        var lastUse = 0
    }

    static let mostGroups = 64
    /// With more hosts in a group than this, half of them are added to the others.
    static let mostHosts = 128

    private var groups: [String: Group] = [:]
    private var uses = 0

    /// - Parameter failure: why the transfer failed; nil if it has downloaded a body.
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

    /// The counts by host and group.
    var counts: [String: [String: HostReport.Counts]] {
        groups.reduce(into: [:]) { all, group in
            for (host, counts) in group.value.hosts { all[host, default: [:]][group.key] = counts }
        }
    }

    /// The counts of the hosts that are not in `counts`, by group.
    var others: [String: HostReport.Counts] { groups.mapValues(\.others).filter { $0.value.ended > 0 } }
}
