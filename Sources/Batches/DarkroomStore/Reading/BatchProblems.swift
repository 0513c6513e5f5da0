import DarkroomModel
import DarkroomText

/// Finds the problems of unfinished batches. All facts must have been read from Redis at the same time.
package struct BatchProblems: Sendable {
    private static let feederMayBeSilent = Duration.seconds(30)
    /// The maximum number of batches that the search for the cause of a wait examines.
    private static let mostLookedAt = 100

    /// The running workers.
    package let workers: [WorkerFacts]
    /// All workers that Redis lists: the running and the lost ones.
    private let listed: [WorkerFacts]
    package let cluster: ClusterControls
    let now: Int
    private let known: [BatchID: BatchFacts]
    private let damaged: [BatchID: [String]]
    private let contradictions: [BatchID: String]
    /// One running worker for each different set of refusals. Usually all workers of a cluster refuse the same batches.
    private let refusing: [WorkerFacts]
    /// The photos that the workers run, by batch; nil if a worker of an earlier version does not report them. Like
    /// ``waits``, the facts are parsed once, because there may be thousands of workers and of batches.
    private let running: [BatchID: [PhotoRanges]]?
    private let waits: [BatchID: [WorkerFacts.Wait]]
    /// For each batch, the hosts that get no requests now and for which photos of the batch wait. Empty if no batch
    /// waits.
    private let heldHosts: [BatchID: [HostFacts]]

    /// - Parameters:
    ///   - workers: the workers that Redis lists.
    ///   - cluster: the controls of the cluster.
    ///   - now: Redis time, in milliseconds since 1970.
    ///   - known: the batches that other batches may wait for. A batch that is not in `known` counts as a batch without
    ///     problems.
    ///   - damaged: damage to report in addition to `BatchFacts.damage`.
    ///   - contradictions: for each batch whose counters contradict its queue, the text about the contradiction.
    package init(
        workers: [WorkerFacts], cluster: ClusterControls, now: Int, known: [BatchFacts],
        damaged: [BatchID: [String]] = [:], contradictions: [BatchID: String] = [:]
    ) {
        self.damaged = damaged
        self.contradictions = contradictions
        listed = workers
        self.workers = workers.filter { $0.isLiving(now: now) }
        var different: Set<[String]> = []
        refusing = self.workers.filter { different.insert($0.grounds).inserted }
        let tellsActivity = self.workers.allSatisfy(\.tellsActivity)
        running =
            !tellsActivity
            ? nil
            : self.workers.reduce(into: [:]) { all, worker in
                for (batch, photos) in worker.running { all[batch, default: []].append(photos) }
            }
        waits = Dictionary(grouping: self.workers.flatMap(\.waits), by: \.batch)
        let isWaiting = !waits.isEmpty || known.contains { $0.deferral != nil }
        let hosts = isWaiting ? HostList(self.workers, now: now).hosts : []
        heldHosts = hosts.filter(\.state.isHeld).reduce(into: [:]) { all, host in
            for (batch, counts) in host.batches where counts.waiting > 0 { all[batch, default: []].append(host) }
        }
        self.cluster = cluster
        self.now = now
        self.known = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
    }

    /// The workers that need not be read again as long as `seen`, the time of their last message, stays the same.
    /// Excludes a worker that sent a message in the millisecond `now` or later, because it may have sent another
    /// message in this millisecond after it was read.
    var settledWorkers: [WorkerFacts] { listed.filter { $0.seen < now } }

    /// The problems of the cluster and of one batch.
    package func of(_ batch: BatchFacts) -> [BatchProblem] {
        Self.isHindered(batch) ? ofCluster + own(batch, besides: []) : []
    }

    /// The problems of these batches. Each problem is listed once. If a batch waits only for other batches of this
    /// list, the wait is not listed, because it follows from the problems of those batches.
    package func of(_ batches: [BatchFacts]) -> [BatchProblem] {
        let open = batches.filter(Self.isHindered)
        guard !open.isEmpty else { return [] }
        let ids = Set(batches.map(\.id))
        return ofCluster + open.flatMap { own($0, besides: ids) }
    }

    private static func isHindered(_ batch: BatchFacts) -> Bool { batch.isOpen || !batch.damage.isEmpty }

    /// The problems of the cluster, which affect every batch.
    package var ofCluster: [BatchProblem] {
        parts(
            (cluster.isSuspended, cluster.areDownloadsSuspended, cluster.areFiltrationsSuspended),
            [.clusterSuspended, .clusterDownloadsSuspended, .clusterFiltrationsSuspended]
        ).map { code, part in
            let subject = part == .everything ? "the cluster is" : "the \(part.rawValue) of the cluster are"
            return BatchProblem(
                code, of: nil, text: "\(subject) suspended", remedies: [.resume(nil, part)])
        }
    }

    /// - Parameter others: the batches whose problems are listed separately.
    private func own(_ batch: BatchFacts, besides others: Set<BatchID>) -> [BatchProblem] {
        var problems: [BatchProblem] = []
        func add(_ code: BatchProblem.Code, _ text: String, _ remedies: Remedy...) {
            problems.append(BatchProblem(code, of: batch.id, text: text, remedies: remedies))
        }
        let damage = batch.damage + (damaged[batch.id] ?? [])
        guard damage.isEmpty else {
            add(
                .damaged,
                "it is damaged in Redis, so no worker runs it: \(HumanText.list(damage))",
                .submitAgain(insteadOf: batch.id))
            return problems
        }
        if let contradiction = contradictions[batch.id] {
            add(
                .inconsistent, "its data in Redis contradict each other: \(contradiction)",
                .advice("a worker or a coordinator repairs it within a minute, without further action"))
        }
        let silent = now - batch.feederSeen
        if !batch.sealed, silent > Self.feederMayBeSilent.wholeMilliseconds {
            add(
                .feederSilent,
                "its feeder has been silent for \(HumanText.duration(Double(silent) / 1000)); "
                    + "\(HumanText.count(batch.photos, of: "photo")) are fed, the list is not complete",
                .feedRest(batch.id))
        }
        if let waiting = waiting(batch, besides: others) {
            problems.append(waiting)
            // A missing worker is reported only if the search found no other cause of the wait.
            if waiting.code == .waiting, workers.isEmpty {
                add(.noWorker, "no running worker takes it: there is no worker", .startWorker)
            }
        }
        let flags = batch.controls
        for (code, part) in parts(
            (flags.isSuspended, flags.areDownloadsSuspended, flags.areFiltrationsSuspended),
            [.suspended, .downloadsSuspended, .filtrationsSuspended])
        {
            let subject = part == .everything ? "it is" : "its \(part.rawValue) are"
            add(code, "\(subject) suspended", .resume(batch.id, part))
        }
        if let focus = flags.focus, focus.only {
            add(
                .focusOnly,
                "only operations with photos \(PhotoRanges([focus.photos])) run, the focus stops the others",
                .clearFocus(batch.id))
        }
        if let problem = refusal(of: batch) ?? stall(of: batch) { problems.append(problem) }
        return problems
    }

    /// The photos of a batch that workers run now, by index. Nil if a worker of an earlier version does not tell which
    /// photos it runs.
    package func running(of batch: BatchID) -> [PhotoRanges]? {
        running.map { $0[batch] ?? [] }
    }

    /// The hosts of a batch, or of all batches.
    package func hosts(of batch: BatchID?) -> HostList { HostList(workers, now: now, of: batch) }

    /// The parts whose flags are set. If everything is suspended, the two queues are omitted.
    private func parts(
        _ flags: (everything: Bool, downloads: Bool, filtrations: Bool), _ codes: [BatchProblem.Code]
    ) -> [(code: BatchProblem.Code, part: QueuePart)] {
        if flags.everything { return [(codes[0], .everything)] }
        return (flags.downloads ? [(codes[1], .downloads)] : [])
            + (flags.filtrations ? [(codes[2], .filtrations)] : [])
    }

    // MARK: - Waiting for another batch

    private func waiting(_ batch: BatchFacts, besides others: Set<BatchID>) -> BatchProblem? {
        guard let first = batch.waitsFor.first, !batch.waitsFor.allSatisfy(others.contains) else { return nil }
        var looked: Set = [batch.id]
        for id in batch.waitsFor {
            guard let cause = cause(of: id, &looked) else { continue }
            return BatchProblem(
                .dependencyStuck, of: batch.id, text: "it waits for \(id), which makes no progress: \(cause.text)",
                remedies: cause.remedies)
        }
        return BatchProblem(
            .waiting, of: batch.id, text: "it waits for \(HumanText.list(batch.waitsFor.map(\.description)))",
            remedies: [.removeDependency(of: batch.id, on: first)])
    }

    /// The first problem found in this batch or in the batches that it waits for; nil if there is none.
    private func cause(of id: BatchID, _ looked: inout Set<BatchID>) -> BatchProblem? {
        var next = [id]
        while let id = next.popLast(), looked.count <= Self.mostLookedAt {
            guard looked.insert(id).inserted, let batch = known[id], batch.isOpen else { continue }
            // Without workers, every batch has the problem `noWorker`, so `noWorker` does not explain the wait.
            if let own = own(batch, besides: Set(batch.waitsFor)).first(where: { $0.code != .noWorker }) { return own }
            next += batch.waitsFor.reversed()
        }
        return nil
    }

    // MARK: - Workers

    /// The problem that no worker takes a batch with claimable operations; nil if a worker takes it.
    private func refusal(of batch: BatchFacts) -> BatchProblem? {
        let queued = batch.operations - batch.operationsEnded - batch.executing
        let flags = batch.controls
        let isHeld =
            flags.isSuspended || flags.areDownloadsSuspended || cluster.isSuspended
            || cluster.areDownloadsSuspended
        let isTaken = refusing.contains { $0.refusal(of: batch) == nil }
        // A worker that refuses a batch does not run operations of the batch, even if it has claimed them. Without
        // workers, claimed operations count as running until the lost worker has been silent for some time.
        let isClaimed = batch.executing > 0 && (!workers.isEmpty || !batch.isExecuting(now: now))
        guard batch.isOpen, batch.state != .waiting, queued > 0 || isClaimed, !isHeld, !isTaken else { return nil }
        func problem(_ code: BatchProblem.Code, _ why: String, _ remedies: [Remedy]) -> BatchProblem {
            BatchProblem(code, of: batch.id, text: "no running worker takes it: \(why)", remedies: remedies)
        }
        guard !workers.isEmpty else { return problem(.noWorker, "there is no worker", [.startWorker]) }
        let refusals = Set(refusing.compactMap { $0.refusal(of: batch) })
        let codes = Set(refusals.map(\.code))
        let code = codes.count == 1 ? codes.first ?? .other : .other
        let reasons = refusals.map(\.reason).sorted().joined(separator: "; ")
        return problem(
            code.problem, "\(HumanText.count(workers.count, of: "worker")) refused it: \(reasons)",
            code.remedies(for: batch.id))
    }

    /// The problem of a batch of which no photo runs although a worker takes the batch. Nil if photos run, or if the
    /// reason is not known.
    private func stall(of batch: BatchFacts) -> BatchProblem? {
        let flags = batch.controls
        guard batch.state == .ready || batch.state == .executing, batch.isOpen, batch.photos > batch.counts.final,
            !flags.isSuspended, !flags.areDownloadsSuspended, !cluster.isSuspended, !cluster.areDownloadsSuspended,
            !workers.isEmpty, let running = running(of: batch.id), running.isEmpty
        else { return nil }
        // Shorter pauses are normal while batches take turns.
        let latest = max(batch.pace?.time ?? 0, batch.submitted, batch.started ?? 0)
        guard now - latest > BatchPace.longestSilence.wholeMilliseconds else { return nil }
        let waits = waits[batch.id] ?? []
        guard let most = waits.max(by: { $0.photos < $1.photos }) else {
            let queued = batch.operations - batch.operationsEnded - batch.executing
            guard let deferral = batch.deferral, deferral.operations >= queued else { return waitForWorkers(batch) }
            return waitForHosts(batch, of: 0)
                ?? waitForHost(
                    batch, "no photo of it runs: \(deferral.text(now: now))", .advice(Self.goesOn), .showHosts)
        }
        let count = waits.reduce(0) { $0 + $1.photos }
        if let wait = waitForHosts(batch, of: count) { return wait }
        let photos = HumanText.count(count, of: "photo") + (count == 1 ? " waits" : " wait")
        guard let holder = most.holder, holder != batch.id else {
            return waitForHost(
                batch, "no photo of it runs: \(photos) for the next attempt to download from \(most.host)",
                .advice("\(Self.goesOn); check the server \(most.host)"))
        }
        return waitForHost(
            batch, "no photo of it runs: \(photos) for connections to \(most.host), which batch \(holder) uses",
            .advice("it goes on after that batch"), prioritizing(batch, over: [holder]), .allowMoreConnections)
    }

    private static let goesOn = "it goes on by itself"

    private func waitForHost(_ batch: BatchFacts, _ text: String, _ remedies: Remedy...) -> BatchProblem {
        BatchProblem(.waitsForHost, of: batch.id, text: text, remedies: remedies)
    }

    /// The wait for hosts that get no requests now; nil if less than half of the waiting photos wait for such hosts.
    private func waitForHosts(_ batch: BatchFacts, of waiting: Int) -> BatchProblem? {
        let hosts = (heldHosts[batch.id] ?? []).map { (facts: $0, photos: $0.batches[batch.id]?.waiting ?? 0) }
        guard let most = hosts.max(by: { $0.photos < $1.photos }) else { return nil }
        let photos = hosts.reduce(0) { $0 + $1.photos }
        guard photos * 2 >= waiting else { return nil }
        let others = hosts.count > 1 ? " and \(HumanText.count(hosts.count - 1, of: "other host"))" : ""
        let parts = [most.facts.conditionText, HumanText.count(photos, of: "photo"), most.facts.nextText]
        let text = "it waits for \(most.facts.host)\(others): \(parts.compactMap(\.self).joined(separator: ", "))"
        switch most.facts.state {
        case .down:
            let advice = "\(Self.goesOn) when the server answers; after the patience of the workers, its photos fail"
            return waitForHost(batch, text, .advice(advice))
        case .slow: return waitForHost(batch, text, .advice("its photos fail"), .acceptSlowerDownloads)
        default: return waitForHost(batch, text, .advice(Self.goesOn), .changeRate)
        }
    }

    private func waitForWorkers(_ batch: BatchFacts) -> BatchProblem? {
        let others = (running ?? [:]).keys.filter { $0 != batch.id }.sorted()
        guard !others.isEmpty else { return nil }
        return BatchProblem(
            .waitsForWorkers, of: batch.id,
            text: "no photo of it runs: the workers run \(HumanText.list(others.map { "batch \($0)" }))",
            remedies: [.advice("it goes on after that"), prioritizing(batch, over: others), .startMoreWorkers])
    }

    /// The remedy that lets a batch run before `others`.
    private func prioritizing(_ batch: BatchFacts, over others: [BatchID]) -> Remedy {
        let highest = others.compactMap { known[$0]?.controls.priority.rank }.max() ?? batch.controls.priority.rank
        let rank = min(max(highest, batch.controls.priority.rank) + 1, BatchPriority.allCases.count - 1)
        return .prioritize(batch.id, BatchPriority.allCases[rank])
    }
}

extension Refusal.Code {
    /// The problem of a batch that every worker refuses for this reason.
    fileprivate var problem: BatchProblem.Code {
        switch self {
        case .outputNotAllowed, .filesNotAllowed: .optionMissing
        case .folderMissing: .folderMissing
        case .folderTaken: .folderTaken
        case .diskFull: .diskFull
        case .folderLocked, .other: .refused
        }
    }

    fileprivate func remedies(for batch: BatchID) -> [Remedy] {
        switch self {
        case .outputNotAllowed: [.allowOutput]
        case .filesNotAllowed: [.allowFiles]
        case .folderTaken: [.cancel(batch), .takeOutputBack(batch)]
        case .folderMissing: [.advice("mount this folder for a worker")]
        case .folderLocked: [.advice("find the process with \"fuser -v\" and end it; the batch then goes on by itself")]
        case .diskFull: [.advice("free some space; the batch then continues by itself")]
        case .other: [.startAcceptingWorker]
        }
    }
}

extension BatchStore {
    /// The current problems of `batches`. Also reads the workers, the controls of the cluster, and at most about 1,000
    /// batches for which `batches` wait. Begins to repair batches whose counters are damaged or contradict each other,
    /// if the Redis user may do so.
    /// - Parameter last: problems that were read before. If a worker has sent nothing since then, its facts are taken from
    ///   `last` and not read again.
    package func problems(
        of batches: [BatchFacts], now: Int, after last: BatchProblems? = nil
    ) throws(StoreError) -> BatchProblems {
        var known = Dictionary(batches.map { ($0.id, $0) }) { first, _ in first }
        let damaged = try damagedKeys(of: batches.filter(\.isOpen).map(\.id))
        let contradictions = try contradictions(in: batches.filter { $0.isOpen && damaged[$0.id] == nil })
        let wanted = batches.filter { !$0.damage.isEmpty || contradictions[$0.id] != nil }.map(\.id)
        if !wanted.isEmpty { _ = try repair(Array(wanted.prefix(100)), steps: 20) }
        var missing = Set(batches.flatMap(\.waitsFor)).filter { known[$0] == nil }
        while !missing.isEmpty, known.count < batches.count + 1000 {
            let found = try facts(of: missing.sorted())
            for batch in found { known[batch.id] = batch }
            missing = Set(found.flatMap(\.waitsFor)).filter { known[$0] == nil }
        }
        return BatchProblems(
            workers: try workers(
                refusing: batches.filter(\.isOpen).map(\.id),
                knowing: last?.settledWorkers ?? []),
            cluster: try clusterControls(), now: now,
            known: Array(known.values), damaged: damaged, contradictions: contradictions)
    }
}
