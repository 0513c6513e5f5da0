import DarkroomModel
import DarkroomStore

/// Reports and releases.
extension WorkerState {
    // MARK: Reports

    /// The reports that are due: those of operations that are done or do not go on, and those with changes older than `age`.
    func reports(_ now: ContinuousClock.Instant, olderThan age: Duration) -> [Report] {
        leases.local.compactMap { held in
            guard let operation = operations[held], operation.hasNews else { return nil }
            let isCancelled = isCancelled(held)
            guard isCancelled ? operation.isIdle : isReportDue(operation, now, olderThan: age) else { return nil }
            return Report(
                held: held, resources: operation.resources, stateCodes: operation.stateCodes, lines: operation.lines,
                bytesIn: operation.bytesIn, bytesOut: operation.bytesOut, failures: operation.failures,
                hasPast: operation.hasPast, isCancelled: isCancelled, version: operation.version)
        }
    }

    private func isReportDue(
        _ operation: LocalOperation, _ now: ContinuousClock.Instant, olderThan age: Duration
    ) -> Bool {
        if operation.isDone || isAborting || age == .zero { return true }
        if operation.isQuarantined, operation.hasUnreportedFinals { return true }
        if let oldest = operation.oldestNews, now - oldest >= age { return true }
        return operation.isIdle && !mayGoOn(operation.held)
            && (operation.hasUnreportedFinals || operation.waiting > 0)
    }

    /// When the next report is due because its oldest change is older than `age`; nil when nothing has changed.
    package func nextReport(after age: Duration) -> ContinuousClock.Instant? {
        leases.local.lazy.compactMap { held in
            isCancelled(held) ? nil : operations[held]?.oldestNews
        }.min().map { $0 + age }
    }

    /// State codes that tell Redis that a photo of a quarantined operation `begins` a step that could end the process, or has
    /// passed it. If the lease expires between the two, Redis charges it to this photo. Nil when Redis need not know: the operation
    /// makes progress, or is not quarantined.
    package func crashProbe(of task: PhotoTask, begins: Bool) -> [UInt8]? {
        guard task.isQuarantined, let operation = operations[task.operation], !operation.hasProgress
        else { return nil }
        var codes = [UInt8](repeating: UInt8(ascii: "."), count: operation.records.count)
        // The photo is new in Redis, too, so that this code changes nothing but ends the probe.
        if !begins { codes[task.record.index - operation.records[0].index] = PhotoState.new.stateCode }
        return codes
    }

    private func isCancelled(_ held: HeldOperation) -> Bool { batches[held.batch]?.hold == .cancelled }

    // MARK: Releases

    /// The operations to release. From then on nothing of them begins:
    /// - operations that do not run here;
    /// - idle operations of cancelled batches, and of a stopping worker, when everything is reported;
    /// - idle operations that are held, when everything is reported: at once without downloaded bytes, and with them after a while
    ///   or when others need the room;
    /// - idle operations whose output cannot be written, after a while, even if something of them cannot be reported: on another
    ///   worker their photos run again, over the same files;
    /// - all operations of an aborting worker: none of their files is placed any more.
    mutating func releases(_ now: ContinuousClock.Instant) -> [HeldOperation] {
        guard !isAborting else { return held }
        var leaving = Array(leases.pendingRelease)
        var idle: [HeldOperation] = []
        for held in leases.local {
            switch releaseDecision(held, now) {
            case .leave: leaving.append(held)
            case .wait(let givesRoom):
                if operations[held]?.idleSince == nil { operations[held]?.idleSince = now }
                if givesRoom { idle.append(held) }
            case .stay(let givesRoom):
                if operations[held]?.idleSince != nil { operations[held]?.idleSince = nil }
                if givesRoom { idle.append(held) }
            }
        }
        if needsRoom { leaving += makeRoom(idle) }
        needsRoom = false
        for held in leaving where operations[held].map({ $0.hold != .releasing }) ?? false {
            operations[held]?.beginRelease()
            rebuild(held.batch)
        }
        return leaving
    }

    /// Whether an operation is released. One that waits or stays may have to give room to others.
    private enum ReleaseDecision {
        case leave
        case wait(givesRoom: Bool)
        case stay(givesRoom: Bool)
    }

    private func releaseDecision(_ held: HeldOperation, _ now: ContinuousClock.Instant) -> ReleaseDecision {
        guard let operation = operations[held], let hold = hold(of: held) else { return .stay(givesRoom: false) }
        let isBlocked = outages.blocks(held.batch)
        let since = operation.idleSince ?? now
        let isThrough =
            operation.hold == .releasing
            || operation.isIdle && !mayGoOn(held) && (operation.waiting == 0 || !hold.allowsFilters)
        if isThrough, !operation.isDone || isCancelled(held), !operation.hasUnreportedFinals {
            if operation.hold == .releasing || operation.waiting == 0 || isStopping { return .leave }
            let patience = isBlocked ? configuration.holdsBlocked : configuration.holdsSuspended
            return now - since >= patience ? .leave : .wait(givesRoom: true)
        }
        if isBlocked, operation.isIdle, operation.hasUnreportedFinals {
            return now - since >= configuration.holdsBlocked ? .leave : .wait(givesRoom: false)
        }
        let givesRoom = needsRoom && !isThrough && !hold.allowsFilters && operation.isIdle && operation.waiting > 0
        return .stay(givesRoom: givesRoom)
    }

    /// Of idle operations with downloaded bytes, those to release until the others take no more than half of the room.
    private func makeRoom(_ idle: [HeldOperation]) -> [HeldOperation] {
        var bytes: [HeldOperation: Int] = [:]
        for entry in photos.all where entry.stage == .ready { bytes[entry.task.operation, default: 0] += entry.bytes }
        var parked = idle.reduce(0) { $0 + (bytes[$1] ?? 0) }
        return idle.filter { held in
            guard parked > configuration.maxBytesHeld / 2 else { return false }
            parked -= bytes[held] ?? 0
            return true
        }
    }
}
