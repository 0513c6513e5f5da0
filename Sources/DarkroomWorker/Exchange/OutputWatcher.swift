import DarkroomConcurrency
import DarkroomFiles
import DarkroomLogging
import DarkroomModel
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
            let isAnyAwaited = core.withLedger { !$0.outputWaits.isEmpty } || !core.refusals.withLock { $0.isEmpty }
            core.outputSignal.wait(timeout: isAnyAwaited ? max(.milliseconds(1), lastLook + Self.interval - .now) : nil)
            // What was met a moment ago is not looked at before the interval has passed.
            if !isAnyAwaited { lastLook = .now }
            guard isAnyAwaited, !stopped.isSet, .now >= lastLook + Self.interval else { continue }
            for wait in core.withLedger({ $0.outputsToLook(now: .now) }) { look(wait) }
            if .now >= lastPrune + Self.pruneInterval {
                claimer.pruneRefusals()
                lastPrune = .now
            }
            claimer.lookAtRefusals()
            lastLook = .now
        }
    }

    private func look(_ wait: WorkerLedger.OutputWait) {
        let folder = wait.obstacle.place.folder
        // It is looked at again when it answers.
        guard claimer.hungMount(of: [folder]) == nil else { return }
        claimer.perform { [self] call in
            call.looks(at: folder)
            lookNow(wait)
        }
    }

    private func lookNow(_ wait: WorkerLedger.OutputWait) {
        if wait.obstacle.kind == .taken { retake(wait.obstacle.place) }
        if let obstacle = wait.obstacle.look() {
            return core.act(on: core.withLedger { $0.changed(wait.number, to: obstacle) })
        }
        // Nobody else removes them, and while they could not be removed nobody could have written them again.
        for path in wait.left { unlink(path) }
        core.logger.notice(
            "output can be written again, going on",
            ["folder": .text(wait.obstacle.place.folder), "batches": .number(wait.batches.count)])
        core.act(on: core.withLedger { $0.freed(wait.number) })
        // What was refused for its sake is claimed again at once.
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
