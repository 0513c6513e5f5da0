extension BatchFacts {
    /// How long it has been executed, in this round: until it finished, or until `now` in ms of the Redis clock.
    public func seconds(now: Int) -> Double? {
        started.map { Double(max(0, (finished ?? now) - $0)) / 1000 }
    }

    /// How many photos have become final a second.
    public func photosPerSecond(now: Int) -> Double? {
        guard let seconds = seconds(now: now), seconds > 0 else { return nil }
        return Double(counts.final) / seconds
    }

    /// Reasons with their counts, the most frequent first.
    public var failuresByCount: [(reason: FailureReason, count: Int)] {
        failures.filter { $0.value > 0 }.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason.word) < ($0.count, $1.reason.word) }
    }
}

extension JSON {
    /// The facts of a batch, the same wherever they appear; `now` is in ms of the Redis clock.
    public init(_ batch: BatchFacts, now: Int) {
        let failures = batch.failuresByCount.map { JSON.Member(key: $0.reason.word, value: .int($0.count)) }
        self = [
            "id": .string(batch.id.description), "name": .string(batch.options.name),
            "state": .string(batch.state.rawValue), "suspended": .bool(batch.suspended),
            "cancelled": .bool(batch.cancelled), "priority": .string(batch.options.priority.rawValue),
            "photos": .int(batch.photos), "operations": .int(batch.operations), "counts": JSON(batch.counts),
            "failures": .object(failures), "bytesIn": .int(batch.bytesIn), "bytesOut": .int(batch.bytesOut),
            "submitted": JSON(time: batch.submitted), "started": JSON(time: batch.started),
            "finished": JSON(time: batch.finished), "seconds": JSON(batch.seconds(now: now), decimals: 3),
            "photosPerSecond": JSON(batch.photosPerSecond(now: now), decimals: 2),
            "filters": .array(batch.options.filters.map(JSON.string)), "output": .string(batch.options.output),
        ]
        self = adding(JSON.steering(of: batch))
    }

    /// What else holds for a batch: only what does.
    private static func steering(of batch: BatchFacts) -> [Member] {
        var members: [Member] = []
        if !batch.waitsFor.isEmpty {
            members.append(Member(key: "waitsFor", value: .array(batch.waitsFor.map { .string($0.description) })))
        }
        if batch.steering.areDownloadsSuspended {
            members.append(Member(key: "downloadsSuspended", value: .bool(true)))
        }
        if batch.steering.areFiltrationsSuspended {
            members.append(Member(key: "filtrationsSuspended", value: .bool(true)))
        }
        if !batch.cancelledReason.isEmpty {
            members.append(Member(key: "cancelledReason", value: .string(batch.cancelledReason)))
        }
        if let focus = batch.steering.focus {
            let value: JSON = [
                "first": .int(focus.photos.lowerBound), "last": .int(focus.photos.upperBound),
                "only": .bool(focus.only),
            ]
            members.append(Member(key: "focus", value: value))
        }
        return members
    }

    /// How many photos are in each state.
    public init(_ counts: PhotoCounts) {
        self = [
            "new": .int(counts.new), "downloaded": .int(counts.downloaded), "filtered": .int(counts.filtered),
            "failed": .int(counts.failed), "cancelled": .int(counts.cancelled),
        ]
    }
}
