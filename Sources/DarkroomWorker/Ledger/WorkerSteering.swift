import DarkroomModel
import DarkroomStore

/// What this worker knows of flags, limits, priorities and focuses, and whether it has missed something.
///
/// Every change has a version, one more than the last. Hints come in order but may get lost; answers of Redis name the
/// version that they show. A plain value, fed by both.
struct WorkerSteering {
    private struct Entry {
        var controls: BatchControls
        var version: Int
    }

    /// The version up to which everything has been heard; nil before the first heartbeat, and when Redis went back.
    private(set) var known: Int?
    /// The highest version that was seen anywhere.
    private(set) var highest = 0
    /// What holds for the cluster.
    private(set) var cluster = ClusterControls()
    private var clusterVersion = 0
    /// Of batches that are held, and of others that hints told of: a claim that is under way may bring them.
    private var entries: [BatchID: Entry] = [:]

    /// The most batches that are remembered beside those that are held.
    private static let maxOthers = 256

    /// Whether only a heartbeat can tell what holds now.
    var needsBeat: Bool { known.map { $0 < highest } ?? true }

    /// What holds for a batch, as far as this worker has heard.
    func batch(_ id: BatchID) -> BatchControls { entries[id]?.controls ?? BatchControls() }

    // MARK: Hints

    /// Takes a change that was published; false when it is older than what is known.
    mutating func heard(
        _ version: Int, batch: (id: BatchID, controls: BatchControls)? = nil, cluster: ClusterControls? = nil
    ) -> Bool {
        guard version > known ?? 0 || known == nil else { return false }
        if let batch, entries[batch.id].map({ $0.version <= version }) ?? true {
            entries[batch.id] = Entry(controls: batch.controls, version: version)
            forgetOthers()
        }
        if let cluster, clusterVersion <= version {
            self.cluster = cluster
            clusterVersion = version
        }
        if version == known.map({ $0 + 1 }) { known = version }
        highest = max(highest, version)
        return true
    }

    // MARK: Answers

    /// Takes what an answer shows as of `version`; `sent` is what was ``highest`` when it was asked for.
    ///
    /// Redis publishes a hint after its change. So if the answer to a request that was sent later shows a lower version,
    /// Redis has lost changes, or another program has published the hint.
    mutating func answered(
        _ version: Int, sent: Int, cluster: ClusterControls? = nil, batches: [BatchID: BatchControls] = [:]
    ) {
        if version < sent { goBack(to: version) }
        highest = max(highest, version)
        // An answer that is merely older than a hint that came meanwhile says nothing new of what the hint was about.
        if let cluster, clusterVersion <= version {
            self.cluster = cluster
            clusterVersion = version
        }
        for (id, controls) in batches where entries[id].map({ $0.version <= version }) ?? true {
            entries[id] = Entry(controls: controls, version: version)
        }
        forgetOthers()
    }

    /// A heartbeat has told what holds, as of `version`, for everything that is held.
    mutating func heardAll(upTo version: Int) {
        if known.map({ $0 <= version }) ?? true { known = version }
    }

    /// An answer said that a batch is cancelled.
    mutating func cancelled(_ id: BatchID) {
        entries[id, default: Entry(controls: BatchControls(), version: highest)].controls.isCancelled = true
    }

    /// Redis has lost its latest changes: what it says now holds.
    private mutating func goBack(to version: Int) {
        known = nil
        highest = version
        clusterVersion = 0
        for id in entries.keys { entries[id]?.version = 0 }
    }

    // MARK: Memory

    /// The batches that are held; what is known of them is kept.
    var held: Set<BatchID> = []

    private mutating func forgetOthers() {
        guard entries.count > held.count + Self.maxOthers else { return }
        let others = entries.filter { !held.contains($0.key) }.sorted { $0.value.version < $1.value.version }
        for (id, _) in others.prefix(others.count / 2) { entries[id] = nil }
    }
}
