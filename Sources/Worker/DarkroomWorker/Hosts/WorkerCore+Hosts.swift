import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import DarkroomWorkerState

extension WorkerCore {
    /// The hosts of the photos of this worker.
    var hosts: WorkerFacts.Hosts {
        let overview = engine.hosts
        let now = ContinuousClock.now
        return WorkerFacts.Hosts(
            hosts: overview.hosts.map { HostFacts($0, now) }, others: HostFacts.batches(overview.others))
    }

    /// Counts the photos of a deferred operation as waiting for their hosts until `due`, although no worker holds the
    /// operation.
    func noteDeferral(_ release: WorkerState.Release, until due: ContinuousClock.Instant) {
        let hosts = release.waitingURLs.compactMap(TransferHost.name(in:))
        let counts = hosts.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        engine.count(deferred: counts, group: release.held.batch.description, until: due)
    }
}

extension HostFacts {
    fileprivate init(_ report: HostReport, _ now: ContinuousClock.Instant) {
        func time(until next: ContinuousClock.Instant) -> Int { max(0, (next - now).wholeMilliseconds) }
        switch report.state {
        case .unknown: self.init(host: report.host, state: .unknown)
        case .up: self.init(host: report.host, state: .up)
        case .paused(let until):
            self.init(host: report.host, state: .paused)
            nextMilliseconds = time(until: until)
        case .down(let since, let next):
            self.init(host: report.host, state: .down)
            downMilliseconds = (now - since).wholeMilliseconds
            nextMilliseconds = time(until: next)
        case .slow(let next):
            self.init(host: report.host, state: .slow)
            nextMilliseconds = time(until: next)
        }
        (running, allowed, rate) = (report.running, report.allowed, report.rate)
        (isAllowedFixed, isRateFixed) = (report.isAllowedFixed, report.isRateFixed)
        medianMilliseconds = report.firstByte?.median.wholeMilliseconds
        mostMilliseconds = report.firstByte?.most.wholeMilliseconds
        batches = Self.batches(report.groups)
    }

    /// The counts by batch. The group of a photo's transfer is its batch.
    fileprivate static func batches(_ groups: [String: HostReport.Counts]) -> [BatchID: Counts] {
        groups.reduce(into: [:]) { batches, group in
            guard let batch = BatchID(group.key) else { return }
            var counts = Counts(waiting: group.value.waiting, downloaded: group.value.downloaded)
            for (code, number) in group.value.failed {
                let reason = FailureReason(TransferError(code: code, detail: ""))
                counts.failures[reason ?? .other, default: 0] += number
            }
            batches[batch] = counts
        }
    }
}
