import DarkroomModel

/// The worker's copy of the controls in Redis: flags, limits, priorities and focuses. This type also detects that the
/// worker has missed a change.
///
/// Every change has a version: the version of the previous change plus 1. Change notices arrive in order but may get
/// lost. Each reply of Redis contains the version of its controls. Notices and replies both update the copy.
struct ControlMirror {
    /// The version up to which every change is known; nil before the first heartbeat, and after Redis has lost changes.
    private(set) var known: Int?
    /// The highest version in any notice or reply.
    private(set) var highest = 0
    private(set) var cluster = ClusterControls()
    private var clusterVersion = 0
    /// The controls of batches with local operations, and of batches that a notice named. The latter are needed because
    /// a running claim may return operations of these batches.
    private var entries: [BatchID: (controls: BatchControls, version: Int)] = [:]
    /// The batches with local operations. Their controls are never removed.
    private var local: Set<BatchID> = []

    /// The largest number of batches without local operations whose controls are kept.
    private static let maxOthers = 256

    /// Whether a change was missed, so that a heartbeat must read the current controls.
    var needsHeartbeat: Bool { known.map { $0 < highest } ?? true }

    /// The latest controls that this worker has received for a batch.
    func controls(of id: BatchID) -> BatchControls { entries[id]?.controls ?? BatchControls() }

    /// Applies a change notice, unless a newer change is known.
    mutating func noticed(
        _ version: Int, batch: (id: BatchID, controls: BatchControls)? = nil, cluster: ClusterControls? = nil
    ) {
        guard version > known ?? 0 || known == nil else { return }
        if let batch, entries[batch.id].map({ $0.version <= version }) ?? true {
            entries[batch.id] = (batch.controls, version)
            forgetOthers()
        }
        if let cluster, clusterVersion <= version {
            self.cluster = cluster
            clusterVersion = version
        }
        if version == known.map({ $0 + 1 }) { known = version }
        highest = max(highest, version)
    }

    /// Applies a reply of Redis.
    ///
    /// Redis publishes a notice only after it has made the change. Therefore the reply to a request that was sent after
    /// a notice contains at least the version of the notice. If the version in the reply is lower, either Redis has
    /// lost changes, or another program has published the notice.
    mutating func answered(_ answer: ControlsAnswer) {
        if answer.version < answer.sent { goBack(to: answer.version) }
        highest = max(highest, answer.version)
        // A notice that arrived after the request was sent may be newer than the reply, and its controls are kept.
        if let cluster = answer.cluster, clusterVersion <= answer.version {
            self.cluster = cluster
            clusterVersion = answer.version
        }
        for (id, controls) in answer.batches where entries[id].map({ $0.version <= answer.version }) ?? true {
            entries[id] = (controls, answer.version)
        }
        if let complete = answer.completeVersion, known.map({ $0 <= complete }) ?? true { known = complete }
        forgetOthers()
    }

    mutating func cancelled(_ id: BatchID) {
        entries[id, default: (BatchControls(), highest)].controls.isCancelled = true
    }

    /// Handles a loss of changes in Redis: the controls in the next replies replace the controls that this worker has
    /// stored.
    private mutating func goBack(to version: Int) {
        known = nil
        highest = version
        clusterVersion = 0
        for id in entries.keys { entries[id]?.version = 0 }
    }

    /// Keeps the controls of a batch, because the worker now has operations of the batch.
    mutating func keep(_ id: BatchID) { local.insert(id) }

    /// Allows the controls of a batch to be removed, since the worker has no more operations of the batch.
    mutating func release(_ id: BatchID) { local.remove(id) }

    private mutating func forgetOthers() {
        guard entries.count > local.count + Self.maxOthers else { return }
        let others = entries.filter { !local.contains($0.key) }.sorted { $0.value.version < $1.value.version }
        for (id, _) in others.prefix(others.count / 2) { entries[id] = nil }
    }
}

/// The controls in a reply of Redis.
package struct ControlsAnswer: Sendable {
    package var version: Int
    /// The highest version that this worker knew when it sent the request, see ``WorkerState/controlsVersion``.
    package var sent: Int
    package var cluster: ClusterControls?
    package var batches: [BatchID: BatchControls]
    /// The version up to which this reply completes the worker's copy of the controls; nil if the reply contains only
    /// some of the controls.
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
