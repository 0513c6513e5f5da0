import DarkroomModel

/// The resources for which the photos of a batch waited. A worker takes a sample of each of its batches about every 3
/// seconds; each sample names the one resource for which most of the photos waited.
package struct ResourceWaits: Sendable, Equatable {
    package enum Resource: String, Sendable, CaseIterable {
        /// The lookup of host names.
        case names
        /// The answers of a host, or its connections.
        case host
        /// The rate of requests that a host allows, or that a user has set.
        case rate
        /// The bodies of downloads.
        case downloads
        /// Decoding, filtering and encoding.
        case filters
        /// A folder that cannot be written now.
        case disk
        /// The reports of finished photos.
        case redis
        /// The list: the feeder is slower than the workers.
        case feeder
    }

    /// With fewer samples, no resource is reported.
    private static let leastSamples = 4

    package private(set) var samples: [Resource: Int] = [:]
    /// The host of the last sample that names a host; nil if it is not known.
    package private(set) var host: String?

    package init() {}

    /// Adds up the samples of a batch in the running workers.
    /// - Parameters:
    ///   - workers: the workers that Redis lists.
    ///   - now: Redis time, in milliseconds since 1970.
    package init(_ workers: [WorkerFacts], now: Int, of batch: BatchID) {
        for worker in workers where worker.isLiving(now: now) {
            for (resource, part) in worker.waited(of: batch) { add(resource, samples: part.samples, host: part.host) }
        }
    }

    package mutating func add(_ resource: Resource, samples: Int = 1, host: String? = nil) {
        self.samples[resource, default: 0] += samples
        self.host = host ?? self.host
    }

    /// The resource with the most samples, and its share of all samples; nil if there are only a few samples.
    package var most: (resource: Resource, share: Double)? {
        let total = samples.values.reduce(0, +)
        guard total >= Self.leastSamples,
            let (resource, count) = samples.max(by: { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) })
        else { return nil }
        return (resource, Double(count) / Double(total))
    }

    // MARK: Text for users

    /// The resource with the most samples, its share, and the remedies: `the host cdn.example (80 % of the time); ...`;
    /// nil if there are only a few samples.
    package func text(_ wording: RemedyWording = .neutral) -> String? {
        guard let (resource, share) = most else { return nil }
        let percentage = Int((share * 100).rounded())
        return "\(subject(resource)) (\(percentage) % of the time); \(wording.text(resource.remedies))"
    }

    private func subject(_ resource: Resource) -> String {
        switch resource {
        case .names: "names of hosts"
        case .host: host.map { "the host \($0)" } ?? "hosts"
        case .rate: "the rate of requests" + (host.map { " to \($0)" } ?? "")
        case .downloads: "downloads"
        case .filters: "filters"
        case .disk: "the disk"
        case .redis: "Redis"
        case .feeder: "the list"
        }
    }
}

extension ResourceWaits.Resource {
    /// The remedies that make batches faster if these batches wait for this resource.
    package var remedies: [Remedy] {
        switch self {
        case .names: [.checkNames]
        case .host: [.showHosts]
        case .rate:
            [.advice("the hosts, or a setting of the workers, allow no more requests"), .changeRate, .showHosts]
        case .downloads: [.advice("a faster network, or workers on several machines")]
        case .filters: [.advice("more processors or more workers")]
        case .disk: [.checkOutput]
        case .redis: [.advice("a faster connection to Redis"), .useLargerOperations]
        case .feeder: [.advice("a faster source of the list"), .useSmallerOperations]
        }
    }
}

/// The fact `waited`: `<batch> <resource>=<samples>,... <host, or ->` for each batch, separated by `;`.
extension WorkerFacts {
    private static let mostWaitedText = 4000
    /// The usual time between two samples, in ms.
    fileprivate static let sampleInterval = 3000

    package static func text(of waits: [BatchID: ResourceWaits]) -> String {
        var text = ""
        for (batch, waits) in waits.sorted(by: { $0.key > $1.key }) {
            let samples = waits.samples.sorted { $0.key.rawValue < $1.key.rawValue }
            let counts = samples.map { "\($0.key.rawValue)=\($0.value)" }.joined(separator: ",")
            let host = waits.host.flatMap { HostFacts.isName($0) ? $0 : nil } ?? "-"
            let entry = (text.isEmpty ? "" : ";") + "\(batch) \(counts) \(host)"
            if text.utf8.count + entry.utf8.count <= mostWaitedText { text += entry }
        }
        return text
    }

    /// The resources for which the photos of a batch waited in this worker. A text that Darkroom did not write gives no
    /// samples.
    fileprivate func waited(of batch: BatchID) -> [ResourceWaits.Resource: (samples: Int, host: String?)] {
        guard let text = fields["waited"], text.utf8.count <= Self.mostWaitedText else { return [:] }
        var found: [ResourceWaits.Resource: (samples: Int, host: String?)] = [:]
        for entry in text.split(separator: ";") {
            let words = entry.split(separator: " ").map(String.init)
            guard words.count == 3, BatchID(words[0]) == batch else { continue }
            let host = HostFacts.isName(words[2]) && words[2] != "-" ? words[2] : nil
            for part in words[1].split(separator: ",") {
                let pair = part.split(separator: "=").map(String.init)
                guard pair.count == 2, let resource = ResourceWaits.Resource(rawValue: pair[0]),
                    let samples = Int(pair[1]), StoredBounds.photos.contains(samples)
                else { continue }
                found[resource] = (samples, host)
            }
        }
        return found
    }
}

extension BatchProblems {
    /// The resources for which the photos of a batch waited in the running workers.
    package func waited(of batch: BatchFacts) -> ResourceWaits {
        var waits = ResourceWaits(workers, now: now, of: batch.id)
        // A worker takes samples only of batches of which it has operations.
        let samples = batch.starved / WorkerFacts.sampleInterval * workers.count
        if samples > 0 { waits.add(.feeder, samples: samples) }
        return waits
    }
}
