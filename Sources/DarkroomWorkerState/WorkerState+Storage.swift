import DarkroomModel
import DarkroomStore

/// Handles outputs that cannot be written for a while. The photos of their batches are held. Their operations are
/// released after a while, because other workers may be able to write.
extension WorkerState {
    mutating func outputOpened(_ id: BatchID, _ device: UInt, _ effects: inout [Effect]) {
        guard let reason = outages.add(id, device: device) else { return }
        applyHolds([id], &effects)
        effects.append(.outputBlocked(reason))
    }

    mutating func storageFault(_ report: StorageReport, _ effects: inout [Effect]) {
        let (batches, isNew) = outages.add(report)
        applyHolds(batches, &effects)
        if isNew { effects.append(.outageBegan(batches: report.others.union([report.batch]).count)) }
    }

    mutating func checkStorage(_ now: ContinuousClock.Instant, _ effects: inout [Effect]) {
        outages.forgetUnused(now: now) { batches[$0] != nil }
        effects += outages.all.map(Effect.checkStorage)
    }
}
