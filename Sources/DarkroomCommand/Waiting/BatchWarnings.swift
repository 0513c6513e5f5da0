import Darkroom

/// What hinders batches that have not finished, in words that say what to do.
struct BatchWarnings {
    /// What hinders a batch.
    enum Kind: Hashable {
        case feeder, workers, waiting, suspended, downloadsSuspended, filtrationsSuspended, focus
        case cluster, clusterDownloads, clusterFiltrations
    }

    /// One thing that hinders a batch, or the cluster when none is named.
    struct Warning {
        let batch: BatchID?
        let kind: Kind
        let text: String
    }

    private static let feederMayBeSilent = Duration.seconds(30)

    private let workers: [WorkerFacts]
    private let cluster: ClusterSteering
    private let now: Int

    /// - Parameters:
    ///   - workers: those that Redis lists.
    ///   - cluster: what holds for all of them.
    ///   - now: in ms of the Redis clock.
    init(workers: [WorkerFacts], cluster: ClusterSteering, now: Int) {
        self.workers = workers.filter { $0.isLiving(now: now) }
        self.cluster = cluster
        self.now = now
    }

    /// Reads what it needs.
    init(_ store: BatchStore) throws {
        self.init(workers: try store.workers(), cluster: try store.clusterSteering(), now: try store.time())
    }

    /// What hinders those of these batches that have not finished. That one waits for another of these is left out: what
    /// hinders that one is said.
    func of(_ batches: [BatchFacts]) -> [Warning] {
        let open = batches.filter { $0.state != .finished && !$0.cancelled }
        guard !open.isEmpty else { return [] }
        let ids = Set(batches.map(\.id))
        return ofCluster + open.flatMap { of($0, among: ids) }
    }

    private var ofCluster: [Warning] {
        parts(
            (cluster.isSuspended, cluster.areDownloadsSuspended, cluster.areFiltrationsSuspended),
            [.cluster, .clusterDownloads, .clusterFiltrations]
        ).map { kind, what, option in
            let subject = what.isEmpty ? "the cluster is" : "the \(what) of the cluster are"
            return Warning(batch: nil, kind: kind, text: "\(subject) suspended; go on with: darkroom resume\(option)")
        }
    }

    private func of(_ batch: BatchFacts, among known: Set<BatchID>) -> [Warning] {
        var warnings: [Warning] = []
        func add(_ kind: Kind, _ text: String) {
            warnings.append(Warning(batch: batch.id, kind: kind, text: "batch \(batch.label): \(text)"))
        }
        if let text = feederText(batch) { add(.feeder, text) }
        if let first = batch.waitsFor.first, batch.waitsFor.contains(where: { !known.contains($0) }) {
            add(
                .waiting,
                "it waits for \(HumanText.list(batch.waitsFor.map(\.description))); it need not any more with: darkroom depend "
                    + "\(batch.id) --on \(first) --remove")
        }
        let flags = batch.steering
        for (kind, what, option) in parts(
            (flags.isSuspended, flags.areDownloadsSuspended, flags.areFiltrationsSuspended),
            [.suspended, .downloadsSuspended, .filtrationsSuspended])
        {
            let subject = what.isEmpty ? "it is" : "its \(what) are"
            add(kind, "\(subject) suspended; go on with: darkroom resume \(batch.id)\(option)")
        }
        if let focus = batch.steering.focus, focus.only {
            add(
                .focus,
                "only photos \(PhotoRanges([focus.photos])) run, the focus holds the others back; they go on with: darkroom "
                    + "focus \(batch.id) --clear")
        }
        if let text = workersText(batch) { add(.workers, text) }
        return warnings
    }

    /// The flags that are set, with what they are of and the option that names it; everything says the others, too.
    private func parts(
        _ flags: (everything: Bool, downloads: Bool, filtrations: Bool), _ kinds: [Kind]
    ) -> [(kind: Kind, what: String, option: String)] {
        if flags.everything { return [(kinds[0], "", "")] }
        return (flags.downloads ? [(kinds[1], "downloads", " --downloads")] : [])
            + (flags.filtrations ? [(kinds[2], "filtrations", " --filtrations")] : [])
    }

    private func feederText(_ batch: BatchFacts) -> String? {
        let silent = now - batch.feederSeen
        guard !batch.sealed, silent > Self.feederMayBeSilent.wholeMilliseconds else { return nil }
        return "its feeder has been silent for \(HumanText.duration(Double(silent) / 1000)); "
            + "\(HumanText.count(batch.photos, of: "photo")) are fed, the list is not at its end; if it is gone, go on with: "
            + "darkroom submit LIST --resume \(batch.id)"
    }

    /// Something of it could be claimed, and nobody would.
    private func workersText(_ batch: BatchFacts) -> String? {
        let queued = batch.operations - batch.operationsEnded - batch.executing
        let flags = batch.steering
        let isHeld =
            batch.state == .waiting || flags.isSuspended || flags.areDownloadsSuspended || cluster.isSuspended
            || cluster.areDownloadsSuspended
        let isTaken = workers.contains { $0.refusal(of: batch.id) == nil }
        // Who refuses it runs nothing of it, also of what it holds.
        guard queued > 0 || batch.executing > 0 && !workers.isEmpty, !isHeld, !isTaken else { return nil }
        return "no living worker takes it: \(whyNot(batch.id))"
    }

    private func whyNot(_ batch: BatchID) -> String {
        guard !workers.isEmpty else { return "there is no worker; start one with: darkroom worker" }
        let reasons = Set(workers.compactMap { $0.refusal(of: batch) }).sorted()
        return "\(HumanText.count(workers.count, of: "worker")) refused it: " + reasons.joined(separator: "; ")
    }
}
