import DarkroomModel

/// This worker's copy of the controls in Redis: flags, limits, priorities and focuses; and whether it has missed a change.
///
/// Every change has a version, one more than the last. Change notices arrive in order but may get lost. Replies of Redis have the
/// version that they show. Both update this value.
struct ControlMirror {
    /// The version up to which every change is known; nil before the first heartbeat, and after Redis lost changes.
    private(set) var known: Int?
    /// The highest version in any notice or reply.
    private(set) var highest = 0
    private(set) var cluster = ClusterControls()
    private var clusterVersion = 0
    /// The controls of batches with local operations, and of batches in notices: a running claim may return operations of them.
    private var entries: [BatchID: (controls: BatchControls, version: Int)] = [:]
    /// The batches with local operations. Their controls are never removed.
    private var local: Set<BatchID> = []

    /// The most batches without local operations that are remembered.
    private static let maxOthers = 256

    /// Whether a change was missed, so that a heartbeat must read the present controls.
    var needsHeartbeat: Bool { known.map { $0 < highest } ?? true }

    /// The last controls of a batch that this worker received.
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
    /// Redis publishes a notice after its change. So if the reply to a later request has a lower version, Redis has lost changes,
    /// or another program has published the notice.
    mutating func answered(_ answer: ControlsAnswer) {
        if answer.version < answer.sent { goBack(to: answer.version) }
        highest = max(highest, answer.version)
        // A notice that arrived in the meantime may be newer than the reply; its subject then keeps the controls of the notice.
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

    /// Handles a loss of changes in Redis: from now on its present replies count.
    private mutating func goBack(to version: Int) {
        known = nil
        highest = version
        clusterVersion = 0
        for id in entries.keys { entries[id]?.version = 0 }
    }

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

/// The controls in a reply of Redis.
package struct ControlsAnswer: Sendable {
    package var version: Int
    /// The highest version that this worker had when it sent the request, see ``WorkerState/controlsVersion``.
    package var sent: Int
    package var cluster: ClusterControls?
    package var batches: [BatchID: BatchControls]
    /// Up to this version the reply, together with the replies before it, has all controls that concern the worker; nil if it
    /// has only some of them.
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
