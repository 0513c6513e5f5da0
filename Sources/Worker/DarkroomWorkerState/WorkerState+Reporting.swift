import DarkroomModel

extension WorkerState {
    /// The due reports. A report is due if its operation is done, does not continue, or has a change older than `age`
    /// (a fifth of `age` if the operation has photos in the focus, which a user is probably watching).
    package func reports(_ now: ContinuousClock.Instant, olderThan age: Duration) -> [Report] {
        leases.local.compactMap { held in
            guard let operation = operations[held], operation.hasNews else { return nil }
            let isCancelled = isCancelled(held)
            guard isCancelled ? operation.isIdle : isReportDue(operation, now, olderThan: age) else { return nil }
            return Report(
                held: held, stateCodes: operation.stateCodes,
                lostGainMaps: operation.lostGainMaps, lines: operation.lines, bytesIn: operation.bytesIn,
                bytesOut: operation.bytesOut, failures: operation.failures,
                finished: operation.finished, claimed: operation.claimed,
                hasPast: operation.hasPast, isCancelled: isCancelled, version: operation.version)
        }
    }

    private func isReportDue(
        _ operation: LocalOperation, _ now: ContinuousClock.Instant, olderThan age: Duration
    ) -> Bool {
        if operation.isDone || isAborting || age == .zero { return true }
        if operation.isQuarantined, operation.hasUnreportedFinals { return true }
        if let time = Self.nextReport(of: operation, after: age), now >= time { return true }
        return operation.isIdle && !mayGoOn(operation.held)
            && (operation.hasUnreportedFinals || operation.waiting > 0)
    }

    /// The time at which a change is old enough for the next report; nil if there are no changes.
    package func nextReport(after age: Duration) -> ContinuousClock.Instant? {
        leases.local.lazy.compactMap { held in
            isCancelled(held) ? nil : operations[held].flatMap { Self.nextReport(of: $0, after: age) }
        }.min()
    }

    private static func nextReport(of operation: LocalOperation, after age: Duration) -> ContinuousClock.Instant? {
        operation.oldestNews.map { $0 + (operation.focus == nil ? age : age / 5) }
    }

    /// The state codes of the report that starts or ends the crash probe of a photo of a quarantined operation. If the
    /// lease expires between the two reports, Redis charges the expiry to this photo. Nil if no probe is needed, since
    /// the operation makes progress or is not quarantined.
    /// - Parameter begins: whether the photo is about to start a step that could crash the process, or has ended this
    ///   step.
    package func crashProbe(of task: PhotoTask, begins: Bool) -> [UInt8]? {
        guard task.isQuarantined, let operation = operations[task.operation], !operation.hasProgress
        else { return nil }
        var codes = [UInt8](repeating: UInt8(ascii: "."), count: operation.records.count)
        // The state of the photo in Redis is also `new`, so this code changes no state and only ends the probe.
        if !begins { codes[task.record.index - operation.records[0].index] = PhotoState.new.stateCode }
        return codes
    }

    private func isCancelled(_ held: HeldOperation) -> Bool { batches[held.batch]?.hold == .cancelled }

    /// The operations to release. None of their photos starts after this call.
    /// - Operations that do not run in this worker.
    /// - Operations without running photos, once all their changes are reported: those of cancelled batches, and all of a
    ///   stopping worker.
    /// - Operations without running photos that are held, once all their changes are reported. If they have downloaded
    ///   bytes, they are released only after a while, or when other operations need the memory.
    /// - Operations without running photos whose output has not been writable for some time, even if they have
    ///   unreported changes. Another worker runs their photos again and replaces the files.
    /// - Operations of which all photos wait for long, once all changes are reported (``deferrals(_:)``).
    /// - Operations that an idle worker can take (``shareOperations()``).
    /// - All operations of an aborting worker. Files that are being renamed may still get their final names.
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
        for held in leaving { beginRelease(held, until: nil) }
        for (held, due) in deferrals(now) {
            beginRelease(held, until: due)
            leaving.append(held)
        }
        return leaving
    }

    mutating func beginRelease(_ held: HeldOperation, until due: ContinuousClock.Instant?) {
        guard operations[held].map({ $0.hold != .releasing }) ?? false else { return }
        operations[held]?.beginRelease(until: due)
        rebuild(held.batch)
    }

    /// The operations of which all photos wait for long and all changes are reported, with the ends of these waits.
    /// After their release, other operations can use their places.
    private func deferrals(_ now: ContinuousClock.Instant) -> [(HeldOperation, ContinuousClock.Instant)] {
        leases.local.compactMap { held in
            guard let operation = operations[held], operation.isIdling, operation.hold == .none,
                !operation.isQuarantined,
                !operation.hasNews, !isStopping, let due = operation.waitsUntil,
                due - now >= configuration.leastDeferral
            else { return nil }
            return (held, due)
        }
    }

    /// The time for which an idle operation with downloaded bytes is kept while it is suspended.
    private static let suspendedPatience = Duration.seconds(600)
    /// The time for which an idle operation is kept while its output cannot be written.
    private static let blockedPatience = Duration.seconds(30)

    /// Whether an operation is released now, later or not at all. If `givesRoom` is true, the operation is released
    /// earlier when memory is needed.
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
            let patience = isBlocked ? Self.blockedPatience : Self.suspendedPatience
            return now - since >= patience ? .leave : .wait(givesRoom: true)
        }
        if isBlocked, operation.isIdle, operation.hasUnreportedFinals {
            return now - since >= Self.blockedPatience ? .leave : .wait(givesRoom: false)
        }
        let givesRoom = needsRoom && !isThrough && !hold.allowsFilters && operation.isIdle && operation.waiting > 0
        return .stay(givesRoom: givesRoom)
    }

    /// The idle operations to release so that the downloaded bytes of the other idle operations use at most half of
    /// the memory.
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
