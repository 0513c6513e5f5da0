import DarkroomModel
import DarkroomRedis

/// The photos that became final since the first batch of a namespace, and their bytes. A photo that is retried counts again.
package struct ClusterTotals: Sendable, Equatable {
    package var filtered = 0
    package var failed = 0
    package var cancelled = 0
    package var bytesIn = 0
    package var bytesOut = 0
    /// The leases that expired because a worker was lost. Samples do not contain it.
    package var leasesExpired = 0

    package init() {}

    /// Filtered and failed photos.
    package var done: Int { filtered + failed }
}

/// A sample of the history of a namespace.
package struct HistorySample: Sendable, Equatable {
    /// Redis time, in milliseconds since 1970.
    package let time: Int
    package let totals: ClusterTotals
    /// The photos of the operations that workers could claim.
    package let queued: Int

    package init(time: Int, totals: ClusterTotals, queued: Int) {
        self.time = time
        self.totals = totals
        self.queued = queued
    }

    /// Reads a member of the history; nil if it is damaged.
    init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map {
            Int($0).flatMap { StoredBounds.numbers.contains($0) ? $0 : nil }
        }
        guard numbers.count == 7, let time = numbers[0], let filtered = numbers[1], let failed = numbers[2],
            let cancelled = numbers[3], let bytesIn = numbers[4], let bytesOut = numbers[5], let queued = numbers[6]
        else { return nil }
        var totals = ClusterTotals()
        (totals.filtered, totals.failed, totals.cancelled) = (filtered, failed, cancelled)
        (totals.bytesIn, totals.bytesOut) = (bytesIn, bytesOut)
        self.init(time: time, totals: totals, queued: queued)
    }
}

extension BatchStore {
    /// The totals of the namespace. A damaged total counts as 0.
    package func totals() throws(StoreError) -> ClusterTotals {
        let fields: [(name: String, total: WritableKeyPath<ClusterTotals, Int>)] = [
            ("photos.filtered", \.filtered), ("photos.failed", \.failed), ("photos.cancelled", \.cancelled),
            ("bytes.in", \.bytesIn), ("bytes.out", \.bytesOut), ("leases.expired", \.leasesExpired),
        ]
        let command = RedisCommand(["HMGET", keys.totals] + fields.map(\.name))
        var totals = ClusterTotals()
        for (field, value) in zip(fields, try read([command], ofAnotherType: .null)[0].array ?? []) {
            totals[keyPath: field.total] = value.number.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil } ?? 0
        }
        return totals
    }

    /// The samples of the last hour, the oldest first. While no worker is running, there are no samples.
    package func history() throws(StoreError) -> [HistorySample] {
        let members = try read([RedisCommand("ZRANGE", keys.history, "0", "1000")], ofAnotherType: .null)[0].array ?? []
        return members.compactMap { $0.string.flatMap(HistorySample.init) }
    }
}
