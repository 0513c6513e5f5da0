import DarkroomModel
import DarkroomStore

/// What Redis is told: reports and hand-backs.
extension WorkerLedger {
    /// A report as it is to be sent, with what must be on disk before.
    struct Report {
        let held: HeldOperation
        let context: BatchContext
        let folder: OpenFolder?
        let stateCodes: [UInt8]
        let lines: [[UInt8]?]
        let bytesIn: Int
        let bytesOut: Int
        let failures: [(index: Int, json: [UInt8])]
        let version: Int
        let hasPast: Bool
        let forgottenFences: [Int]
        /// Its batch is cancelled: only the manifest is written, the hand-back tells Redis.
        let isCancelled: Bool
    }

    // MARK: Photos that do not run

    /// Settles every photo of an operation that is not to run.
    mutating func settleAll(_ held: HeldOperation, _ state: PhotoRecordState) {
        finishWhole(held) { $0.settleAll(state) }
    }

    /// Counts every photo of an operation as filtered without doing anything.
    mutating func skip(_ held: HeldOperation) {
        finishWhole(held) { $0.skip() }
        photosDone += operations[held]?.stateCodes.count ?? 0
    }

    private mutating func finishWhole(_ held: HeldOperation, _ body: (inout OperationInHand) -> Void) {
        guard operations[held]?.isDone == false else { return }
        _ = update(held, body)
        doneOperations += 1
        arrange(held.batch)
    }

    // MARK: Reporting

    /// The reports that are due: those of operations that are done or go no further, and those with news older than `age`.
    func reports(now: ContinuousClock.Instant, olderThan age: Duration) -> [Report] {
        order.compactMap { held in
            guard let operation = operations[held], operation.hasNews else { return nil }
            let isCancelled = isCancelled(held)
            let isDue =
                isCancelled
                ? operation.rests
                : operation.isDone || isAborting || age == .zero
                    || operation.isSuspect && operation.hasUnreportedFinals
                    || operation.oldestNews.map { now - $0 >= age } ?? false
                    || operation.rests && !mayGoOn(held) && (operation.hasUnreportedFinals || operation.waiting > 0)
            guard isDue else { return nil }
            return Report(
                held: held, context: operation.context, folder: operation.folder, stateCodes: operation.stateCodes,
                lines: operation.lines,
                bytesIn: operation.bytesIn, bytesOut: operation.bytesOut, failures: operation.failures,
                version: operation.version, hasPast: operation.hasPast,
                forgottenFences: operation.forgottenFences, isCancelled: isCancelled)
        }
    }

    /// The letters of a report that tells, of a suspect without progress, that this photo `begins` to do what a worker could die of,
    /// or that it is through with that; nil of any other.
    func stateCodes(of photo: PhotoInProgress, begins: Bool) -> [UInt8]? {
        guard photo.isSuspect, let operation = operations[photo.operation], !operation.hasProgress else { return nil }
        var stateCodes = [UInt8](repeating: UInt8(ascii: "."), count: operation.records.count)
        // It is new, so that changes nothing.
        if !begins { stateCodes[photo.record.index - operation.records[0].index] = PhotoRecordState.new.stateCode }
        return stateCodes
    }

    /// When the oldest news that nobody hurried falls due.
    func nextReport(after age: Duration) -> ContinuousClock.Instant? {
        order.lazy.compactMap { held in isCancelled(held) ? nil : operations[held]?.oldestNews }.min().map { $0 + age }
    }

    /// A report arrived, and the operation goes on.
    mutating func reported(_ report: Report, now: ContinuousClock.Instant) {
        _ = update(report.held) {
            $0.reported(version: report.version, failures: report.failures.count, now: now)
        }
    }

    private func isCancelled(_ held: HeldOperation) -> Bool { batches[held.batch]?.controls.isCancelled == true }

    // MARK: Handing back

    /// The operations to hand back, of which nothing begins any more, whatever comes: those that are not run here; those of
    /// cancelled batches, and of a stopping worker, of which nothing runs and nothing is left to say; of suspended ones those
    /// without downloaded bytes, and those with them after a while or when others want their room, and likewise
    /// of those whose output cannot be written, also when something of them could not be reported; of an aborting worker all,
    /// since nothing of what may still run is put in place any more.
    mutating func toHandBack(now: ContinuousClock.Instant) -> [HeldOperation] {
        guard !isAborting else { return held }
        var leaving = Array(returned)
        var resting: [HeldOperation] = []
        for held in order {
            guard let operation = operations[held] else { continue }
            let mayFilter = batches[held.batch]?.mayFilter == true && !operation.isOutsideFocus
            let isOver =
                operation.isLeaving || operation.rests && !mayGoOn(held) && (operation.waiting == 0 || !mayFilter)
            if isOver, !operation.isDone || isCancelled(held), !operation.hasUnreportedFinals {
                if operation.isLeaving || operation.waiting == 0 || isStopping {
                    leaving.append(held)
                    continue
                }
                let since = operation.restsSince ?? now
                let patience = batches[held.batch]?.isBarred == true ? holdsBarred : holdsSuspended
                if now - since >= patience { leaving.append(held) } else { resting.append(held) }
                if operation.restsSince == nil { operations[held]?.restsSince = now }
            } else if batches[held.batch]?.isBarred == true, operation.rests, operation.hasUnreportedFinals {
                // Its manifest cannot be written here: elsewhere its photos run again, over the same files.
                if now - (operation.restsSince ?? now) >= holdsBarred { leaving.append(held) }
                if operation.restsSince == nil { operations[held]?.restsSince = now }
            } else {
                if wantsRoom, !isOver, !mayFilter, operation.rests, operation.waiting > 0 { resting.append(held) }
                if operation.restsSince != nil { operations[held]?.restsSince = nil }
            }
        }
        if wantsRoom { leaving += makeRoom(resting) }
        wantsRoom = false
        for held in leaving where operations[held]?.isLeaving == false {
            operations[held]?.isLeaving = true
            arrange(held.batch)
        }
        return leaving
    }

    /// Of operations that rest with downloaded bytes, those to hand back until the rest takes no more than half of the room.
    private func makeRoom(_ resting: [HeldOperation]) -> [HeldOperation] {
        var bytes: [HeldOperation: Int] = [:]
        for entry in inProgress.values where entry.stage == .ready {
            bytes[entry.photo.operation, default: 0] += entry.bytes
        }
        var parked = resting.reduce(0) { $0 + (bytes[$1] ?? 0) }
        return resting.filter { held in
            guard parked > maxBytesHeld / 2 else { return false }
            parked -= bytes[held] ?? 0
            return true
        }
    }
}
