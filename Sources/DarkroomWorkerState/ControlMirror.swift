import DarkroomModel

/// This worker's copy of the controls in Redis: flags, limits, priorities and focuses; and whether it has missed a change.
///
/// Every change has a version, one more than the last. Change notices arrive in order but may get lost; answers of Redis say
/// which version they show. Both feed this value.
struct ControlMirror {
    private struct Entry {
        var controls: BatchControls
        var version: Int
    }

    /// The version up to which every change is known; nil before the first heartbeat, and after Redis lost changes.
    private(set) var known: Int?
    /// The highest version that was seen anywhere.
    private(set) var highest = 0
    /// The controls of the cluster.
    private(set) var cluster = ClusterControls()
    private var clusterVersion = 0
    /// Of batches with local operations, and of others that notices told of: a claim under way may bring these.
    private var entries: [BatchID: Entry] = [:]
    /// The batches with local operations. Their controls are never forgotten.
    private var local: Set<BatchID> = []

    /// The most batches without local operations that are remembered.
    private static let maxOthers = 256

    /// Whether a change was missed, so that only a heartbeat can tell the present controls.
    var needsHeartbeat: Bool { known.map { $0 < highest } ?? true }

    /// The controls of a batch as far as this worker knows.
    func controls(of id: BatchID) -> BatchControls { entries[id]?.controls ?? BatchControls() }

    // MARK: Notices

    /// Takes a published change, unless a newer one is known.
    mutating func noticed(
        _ version: Int, batch: (id: BatchID, controls: BatchControls)? = nil, cluster: ClusterControls? = nil
    ) {
        guard version > known ?? 0 || known == nil else { return }
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
    }

    // MARK: Answers

    /// Takes an answer of Redis.
    ///
    /// Redis publishes a notice after its change. So if the answer to a later request shows a lower version, Redis has lost
    /// changes, or another program has published the notice.
    mutating func answered(_ answer: ControlsAnswer) {
        if answer.version < answer.sent { goBack(to: answer.version) }
        highest = max(highest, answer.version)
        // An answer that is older than a notice that came meanwhile says nothing new about the subject of the notice.
        if let cluster = answer.cluster, clusterVersion <= answer.version {
            self.cluster = cluster
            clusterVersion = answer.version
        }
        for (id, controls) in answer.batches where entries[id].map({ $0.version <= answer.version }) ?? true {
            entries[id] = Entry(controls: controls, version: answer.version)
        }
        if let complete = answer.completeVersion, known.map({ $0 <= complete }) ?? true { known = complete }
        forgetOthers()
    }

    /// An answer said that a batch is cancelled.
    mutating func cancelled(_ id: BatchID) {
        entries[id, default: Entry(controls: BatchControls(), version: highest)].controls.isCancelled = true
    }

    /// Redis has lost its latest changes: its present answers count.
    private mutating func goBack(to version: Int) {
        known = nil
        highest = version
        clusterVersion = 0
        for id in entries.keys { entries[id]?.version = 0 }
    }

    // MARK: Memory

    /// The worker has operations of a batch now.
    mutating func keep(_ id: BatchID) { local.insert(id) }

    /// The worker has no operation of a batch any more.
    mutating func release(_ id: BatchID) { local.remove(id) }

    private mutating func forgetOthers() {
        guard entries.count > local.count + Self.maxOthers else { return }
        let others = entries.filter { !local.contains($0.key) }.sorted { $0.value.version < $1.value.version }
        for (id, _) in others.prefix(others.count / 2) { entries[id] = nil }
    }
}

/// Controls as an answer of Redis tells them.
package struct ControlsAnswer: Sendable {
    /// The version that the answer shows.
    package var version: Int
    /// The highest version that this worker knew when it asked, see ``WorkerState/controlsVersion``.
    package var sent: Int
    /// The controls of the cluster, if the answer tells them.
    package var cluster: ClusterControls?
    /// The controls of the batches that the answer tells of.
    package var batches: [BatchID: BatchControls]
    /// Up to this version the answer, together with those before it, tells all controls that concern the worker; nil if it
    /// tells only some of them.
    package var completeVersion: Int?

    package init(
        version: Int, sent: Int, cluster: ClusterControls? = nil, batches: [BatchID: BatchControls] = [:],
        completeVersion: Int? = nil
    ) {
        self.version = version
        self.sent = sent
        self.cluster = cluster
        self.batches = batches
        self.completeVersion = completeVersion
    }
}
