import DarkroomModel

/// Applies changes that users make while the worker is running.
extension WorkerState {
    mutating func apply(_ notice: ChangeNotice, _ effects: inout [Effect]) {
        switch notice {
        case .work: return
        case .idle(let idle):
            operationsWanted = leases.local.count > 1 ? idle.most : 0  // the idle worker gets its own notice, too
            effects.append(.wakeReports)
        case .batch(let id, let controls, let version):
            apply(&effects) { $0.noticed(version, batch: (id, controls)) }
            noteFocus(of: id, controls)
            // The worker no longer waits for operations in an earlier focus of another batch.
            if controls.focus != nil { effects += [.schedule(urgently: true), .wakeClaims] }
        case .cluster(let cluster, let version):
            apply(&effects) { $0.noticed(version, cluster: cluster) }
        case .photos(let id, let version):
            apply(&effects) { $0.noticed(version) }
            // The notice does not name the cancelled photos, but the reply to the next heartbeat does.
            if batches[id] != nil { effects.append(.wakeHeartbeat) }
        }
    }

    /// Changes this worker's copy of the controls, and applies the new controls to all affected batches.
    mutating func apply(_ effects: inout [Effect], _ change: (inout ControlMirror) -> Void) {
        let (limits, cluster) = (limits, controls.cluster)
        change(&controls)
        let limitsChanged = limits != self.limits
        if limitsChanged { effects.append(.applyLimits) }
        if controls.needsHeartbeat { effects.append(.wakeHeartbeat) }
        let isOfAll = cluster != controls.cluster
        let changed = batches.keys.filter { isOfAll || batches[$0]?.controls != controls.controls(of: $0) }
        applyHolds(Set(changed), &effects)
        if limitsChanged, changed.isEmpty { wakeAll(&effects) }
    }

    /// Starts all photos that may start now, and wakes the threads that claim and report.
    func wakeAll(_ effects: inout [Effect]) { effects += [.schedule(urgently: true), .wakeReports, .wakeClaims] }

    func hold(of id: BatchID) -> Hold {
        Hold(controls.controls(of: id), controls.cluster, isStorageBlocked: outages.blocks(id))
    }

    /// Applies the current controls and outages to batches.
    mutating func applyHolds(_ ids: Set<BatchID>, _ effects: inout [Effect]) {
        let local = ids.filter { batches[$0] != nil }
        guard !local.isEmpty else { return }
        for id in local { applyHold(id, &effects) }
        wakeAll(&effects)
    }

    private mutating func applyHold(_ id: BatchID, _ effects: inout [Effect]) {
        guard let before = batches[id] else { return }
        let (now, hold) = (controls.controls(of: id), hold(of: id))
        change(id) { $0.apply(now, hold) }
        rebuild(id)
        if before.controls.focus != now.focus { noteFocus(of: id, now) }
        guard before.begun > 0 else { return }
        let hasMoved = before.controls.priority != now.priority || before.controls.focus != now.focus
        for entry in Array(photos.all) where entry.task.operation.batch == id {
            let task = entry.task
            switch hold.with(operations[task.operation]?.hold ?? .none) {
            case .cancelled:
                if entry.stage != .placing, !entry.isAborting { photosCancelled += 1 }
                stop(entry, &effects)
            case .outsideFocus where entry.stage == .filterQueued:
                withdrawFilter(entry)  // keeps the bytes, for a later focus
            case .outsideFocus where entry.stage != .ready:
                stop(entry, &effects)
            case let hold where !hold.allowsDownloads && (entry.stage == .queued || entry.stage == .waiting):
                effects.append(.withdraw(task))
            case let hold where !hold.allowsFilters && entry.stage == .filterQueued:
                withdrawFilter(entry)
            default:
                guard hasMoved, entry.stage.isDownload || entry.stage == .filterQueued else { continue }
                effects.append(.reorder(task))
            }
        }
    }

    /// Merges final state codes from Redis. Their photos are stopped, or are not started.
    mutating func merge(_ codes: [UInt8], _ held: HeldOperation, _ effects: inout [Effect]) {
        let merged = update(held) { operation in
            let wasDone = operation.isDone
            let overtaken = operation.merge(codes)
            let cancelled = overtaken.count { operation.state(of: $0) == .cancelled }
            return (overtaken, cancelled, isDone: operation.isDone && !wasDone)
        }
        guard let (overtaken, cancelled, isDone) = merged else { return }
        photosCancelled += cancelled
        if isDone { doneOperations += 1 }
        for index in overtaken {
            if let entry = photos.entry(of: index, of: held) { stop(entry, &effects) }
        }
        rebuild(held.batch)
        if isDone || !overtaken.isEmpty { wakeAll(&effects) }
    }
}
