import DarkroomConcurrency
import DarkroomFiles
import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomWorkerState
import Foundation

/// Looks every few seconds whether outputs that could not be written can be written again, and whether refused batches can be
/// done now, on a thread of its own.
final class OutputWatcher: Sendable {
    private let core: WorkerCore
    private let claimer: Claimer
    private let stopped = Latch()

    private static let interval = Duration.seconds(2)
    private static let pruneInterval = Duration.seconds(600)

    init(_ core: WorkerCore, _ claimer: Claimer) {
        self.core = core
        self.claimer = claimer
    }

    /// Ends the thread after the look that may be under way.
    func stop() {
        stopped.set()
        core.outputSignal.raise()
    }

    /// Runs until ``stop()``.
    func run() {
        var lastLook = ContinuousClock.now
        var lastPrune = ContinuousClock.now
        while !stopped.isSet {
            let isAnyAwaited = core.read { $0.hasOutages } || !core.refusals.withLock { $0.isEmpty }
            core.outputSignal.wait(timeout: isAnyAwaited ? max(.milliseconds(1), lastLook + Self.interval - .now) : nil)
            // What was met a moment ago is not looked at before the interval has passed.
            if !isAnyAwaited { lastLook = .now }
            guard isAnyAwaited, !stopped.isSet, .now >= lastLook + Self.interval else { continue }
            for case .checkStorage(let outage) in core.handle(.storageChecksDue(now: .now)) { check(outage) }
            if .now >= lastPrune + Self.pruneInterval {
                claimer.pruneRefusals()
                lastPrune = .now
            }
            claimer.lookAtRefusals()
            lastLook = .now
        }
    }

    private func check(_ outage: StorageOutage) {
        guard let fault = outage.fault as? OutputFault else { return }  // this worker reports no others
        // A folder that does not answer is checked again when it does.
        guard claimer.hungMount(of: [fault.place.folder]) == nil else { return }
        claimer.perform { [self] call in
            call.looks(at: fault.place.folder)
            checkNow(outage, fault)
        }
    }

    private func checkNow(_ outage: StorageOutage, _ fault: OutputFault) {
        if fault.kind == .taken { retake(fault.place) }
        if let found = fault.check() {
            core.handle(.storageChanged(outage.number, found))
            return
        }
        // Nobody else removes these files, and while nobody could remove them nobody could write them again.
        for path in outage.staleFiles { unlink(path) }
        core.logger.notice(
            "output can be written again, going on",
            ["folder": .text(fault.place.folder), "batches": .number(outage.batches.count)])
        core.handle(.storageRecovered(outage.number))
        // Batches that were refused because of this fault are claimed again at once.
        core.refusals.withLock { $0.lookAgain(.now) }
        claimer.expectWork(.veryHigh, workers: 1)
    }

    /// Takes the folder for its batch again if `retry --overwrite` has given it back to the batch.
    private func retake(_ place: OutputPlace) {
        // If Redis or the folder cannot be read, the next look tries again.
        guard let holder = place.holder, let batch = BatchID(holder.owner),
            let taken = try? core.store.outputsTaken(by: [batch])[batch], taken > holder.number,
            let root = try? place.open()
        else { return }
        // Where that fails, the look that follows fails in the same way.
        _ = try? FolderHolder(owner: holder.owner, number: taken).take(ManifestPath.holder, in: root)
    }
}
