import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import DarkroomWorkerState

/// For each of a bounded number of batches, the resources for which photos of the batch have waited since the worker
/// started.
final class WaitSamples: Sendable {
    private struct State {
        var waits: [BatchID: (waits: ResourceWaits, lastUse: Int)] = [:]
        var samples = 0
        var last: ContinuousClock.Instant?
    }

    static let mostBatches = 50
    /// The shortest time between two samples. Heartbeats may follow each other within milliseconds.
    private static let interval = Duration.milliseconds(2500)

    private let state = Locked(State())

    typealias Sample = (resource: ResourceWaits.Resource, host: String?)

    /// Returns the waits of each batch. Adds a sample first if the last sample is old enough.
    func waits(_ now: ContinuousClock.Instant = .now, _ sample: () -> [BatchID: Sample]) -> [BatchID: ResourceWaits] {
        let isDue = state.withLock { state in
            let isDue = state.last.map { now - $0 >= Self.interval } ?? true
            if isDue { state.last = now }
            return isDue
        }
        let new = isDue ? sample() : [:]
        return state.withLock { state in
            state.samples += new.isEmpty ? 0 : 1
            for (batch, (resource, host)) in new {
                state.waits[batch, default: (ResourceWaits(), 0)].waits.add(resource, host: host)
                state.waits[batch]?.lastUse = state.samples
            }
            while state.waits.count > Self.mostBatches,
                let oldest = state.waits.min(by: { ($0.value.lastUse, $0.key) < ($1.value.lastUse, $1.key) })?.key
            {
                state.waits[oldest] = nil
            }
            return state.waits.mapValues(\.waits)
        }
    }

    /// The resource for which most photos of a batch wait now; nil if none waits.
    /// - Parameters:
    ///   - hosts: the hosts of the worker.
    ///   - filtrations: the limit of concurrent filtrations.
    static func resource(
        of batch: BatchID, _ load: BatchLoad, _ hosts: [HostFacts], filtrations: Int
    ) -> Sample? {
        if load.isStorageBlocked { return (.disk, nil) }
        // While at least this number of photos is ready for filtration, faster downloads would change nothing.
        if load.downloaded >= filtrations { return (.filters, nil) }
        var photos: [ResourceWaits.Resource: Int] = [
            .downloads: load.downloading, .filters: load.downloaded + load.filtering, .host: load.requested.photos,
        ]
        var most: [ResourceWaits.Resource: (photos: Int, host: String)] = [:]
        for host in hosts {
            let waiting = host.batches[batch]?.waiting ?? 0
            // The engine knows the limits of a host only after it has looked up the host name.
            let resource: ResourceWaits.Resource =
                host.allowed == 0 && host.state == .unknown
                ? .names : host.state.isHeld || host.rate == nil ? .host : .rate
            photos[resource, default: 0] += waiting
            if waiting > most[resource]?.photos ?? 0 { most[resource] = (waiting, host.host) }
        }
        guard let (resource, count) = photos.max(by: { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }),
            count > 0
        else { return load.isReporting ? (.redis, nil) : nil }
        switch resource {
        case .host: return (.host, most[.host]?.host ?? TransferHost.name(in: load.requested.url))
        case .rate: return (.rate, most[.rate]?.host)
        default: return (resource, nil)
        }
    }
}
