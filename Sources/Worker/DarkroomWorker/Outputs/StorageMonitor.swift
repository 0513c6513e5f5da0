import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStorage
import DarkroomWorkerState
import Foundation

/// Checks every 2 s, on a separate thread, whether blocked outputs can be written again and refused batches can run
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
        // If there is no fault, the outage has just begun and its first fault has not been added yet.
        guard let faults = core.outages.withLock({ $0[outage.number] }) else { return }
        let location = faults.latest.check.location
        // If the storage does not answer, it is checked when it answers again.
        guard core.storageCalls.hungDomain(of: [location]) == nil else { return }
        core.perform { [self] call in
            call.accesses(location)
            checkNow(outage, faults)
        }
    }

    private func checkNow(_ outage: StorageOutage, _ faults: OutageFaults.Faults) {
        let check = faults.latest.check
        // `retry --overwrite` gives the batch a higher number, with which the batch takes its output folder back. If
        // Redis cannot be read, the next check tries again.
        if faults.latest.isTaken,
            let taken = try? core.coordination.store.outputsTaken(by: [faults.batch])[faults.batch]
        {
            check.retake(taken)
        }
        if let found = check.fault(room: faults.latest.room) {
            core.outages.withLock { $0.change(outage.number, to: found) }
            core.handle(.storageChanged(outage.number, found.refusal, domain: found.domain))
            return
        }
        // No other code removes these files, and none of their names can have been used again during the outage.
        for (check, path) in faults.remains { check.remove(path) }
        core.coordination.logger.notice(
            "output can be written again, going on",
            ["folder": .text(check.location), "batches": .number(outage.batches.count)])
        core.handle(.storageRecovered(outage.number))
        // Batches that were refused because of this fault are checked at once, so that the worker can claim from them.
        core.coordination.refusals.withLock { $0.checkAgain(.now) }
        core.coordination.expectWork(.veryHigh)
    }
}
