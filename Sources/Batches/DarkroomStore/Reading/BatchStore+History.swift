import DarkroomModel
import DarkroomRedis

/// Counts of the photos that have become final in a namespace, and of their bytes. A retried photo counts again.
package struct ClusterTotals: Sendable, Equatable {
    package var filtered = 0
    package var failed = 0
    package var cancelled = 0
    package var bytesIn = 0
    package var bytesOut = 0
    /// The number of leases that expired because a worker was lost. Samples do not contain this number.
    package var leasesExpired = 0

    package init() {}

    /// The number of filtered and failed photos.
    package var done: Int { filtered + failed }
}

/// A sample of the history of a namespace.
package struct HistorySample: Sendable, Equatable {
    /// Redis time, in milliseconds since 1970.
    package let time: Int
    package let totals: ClusterTotals
    /// The number of photos in the queued operations of the batches that were in ready queues.
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

    /// The samples of the last hour, the oldest first. No samples are taken while no worker is running.
    package func history() throws(StoreError) -> [HistorySample] {
        let members = try read([RedisCommand("ZRANGE", keys.history, "0", "1000")], ofAnotherType: .null)[0].array ?? []
        return members.compactMap { $0.string.flatMap(HistorySample.init) }
    }
}
