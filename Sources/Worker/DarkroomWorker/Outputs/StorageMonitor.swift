import DarkroomConcurrency
import DarkroomFiles
import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomWorkerState
import Foundation

/// Checks every 2 s, on a thread of its own, whether blocked outputs can be written again and refused batches can run
/// now.
final class StorageMonitor: Sendable {
    private let core: WorkerCore
    private let stopped = Latch()

    private static let interval = Duration.seconds(2)
    private static let pruneInterval = Duration.seconds(600)

    init(_ core: WorkerCore) { self.core = core }

    /// Ends the thread after the current check.
    func stop() {
        stopped.set()
        core.outputSignal.raise()
    }

    func run() {
        var lastLook = ContinuousClock.now
        var lastPrune = ContinuousClock.now
        while !stopped.isSet {
            let isAnyAwaited = core.read { $0.hasOutages } || !core.coordination.refusals.withLock { $0.isEmpty }
            core.outputSignal.wait(timeout: isAnyAwaited ? max(.milliseconds(1), lastLook + Self.interval - .now) : nil)
            // The first check of a new fault comes one interval after the fault.
            if !isAnyAwaited { lastLook = .now }
            guard isAnyAwaited, !stopped.isSet, .now >= lastLook + Self.interval else { continue }
            for case .checkStorage(let outage) in core.effects(of: .storageChecksDue(now: .now)) { check(outage) }
            if .now >= lastPrune + Self.pruneInterval {
                core.pruneRefusals()
                lastPrune = .now
            }
            core.checkRefusals()
            lastLook = .now
        }
    }

    private func check(_ outage: StorageOutage) {
        guard let fault = outage.fault as? OutputFault else { return }  // this worker reports no other type
        // If the file system of a folder does not answer, the folder is checked when the file system answers again.
        guard core.folders.hungMount(of: [fault.place.folder]) == nil else { return }
        core.perform { [self] call in
            call.accesses(fault.place.folder)
            checkNow(outage, fault)
        }
    }

    private func checkNow(_ outage: StorageOutage, _ fault: OutputFault) {
        if fault.kind == .taken { retake(fault.place) }
        if let found = fault.check() {
            core.handle(.storageChanged(outage.number, found))
            return
        }
        // No other code removes these files, and none of their names can have been used again during the outage.
        for case (let fault as OutputFault, let path) in outage.staleFiles { try? fault.place.open().remove(path) }
        core.coordination.logger.notice(
            "output can be written again, going on",
            ["folder": .text(fault.place.folder), "batches": .number(outage.batches.count)])
        core.handle(.storageRecovered(outage.number))
        // Batches that were refused because of this fault are checked at once, so that the worker can claim from them.
        core.coordination.refusals.withLock { $0.checkAgain(.now) }
        core.coordination.expectWork(.veryHigh)
    }

    /// Takes an output folder for its batch again if `retry --overwrite` has given the batch a higher number.
    private func retake(_ place: OutputPlace) {
        // If Redis or the folder cannot be read, the next check tries again.
        guard let holder = place.holder, let batch = BatchID(holder.owner),
            let taken = try? core.coordination.store.outputsTaken(by: [batch])[batch], taken > holder.number,
            let root = try? place.open()
        else { return }
        // An error is ignored, because the next check of the folder finds the same fault.
        _ = try? FolderHolder(owner: holder.owner, number: taken).take(ManifestPath.holder, in: root)
    }
}
