import DarkroomConcurrency
import DarkroomLogging
import Foundation

/// Looks every few seconds whether outputs that could not be written can be written again, on a thread of its own.
final class OutputWatcher: Sendable {
    private let core: WorkerCore
    /// Called when one can.
    private let onFree: @Sendable () -> Void
    private let stopped = Latch()

    private static let interval = Duration.seconds(2)

    init(_ core: WorkerCore, onFree: @escaping @Sendable () -> Void) {
        self.core = core
        self.onFree = onFree
    }

    /// Ends the thread after the look that may be under way.
    func stop() {
        stopped.set()
        core.outputSignal.raise()
    }

    /// Runs until ``stop()``.
    func run() {
        var lastLook = ContinuousClock.now
        while !stopped.isSet {
            let isAnyAwaited = core.withLedger { !$0.outputWaits.isEmpty }
            core.outputSignal.wait(timeout: isAnyAwaited ? max(.milliseconds(1), lastLook + Self.interval - .now) : nil)
            // What was met a moment ago is not looked at before the interval has passed.
            if !isAnyAwaited { lastLook = .now }
            guard isAnyAwaited, !stopped.isSet, .now >= lastLook + Self.interval else { continue }
            for wait in core.withLedger({ $0.outputsToLook(now: .now) }) { look(wait) }
            lastLook = .now
        }
    }

    private func look(_ wait: WorkerLedger.OutputWait) {
        if let obstacle = wait.obstacle.look() {
            return core.act(on: core.withLedger { $0.changed(wait.number, to: obstacle) })
        }
        // Nobody else removes them, and while they could not be removed nobody could have written them again.
        for path in wait.left { unlink(path) }
        core.logger.notice(
            "output can be written again, going on",
            ["folder": .text(wait.obstacle.place.folder), "batches": .number(wait.batches.count)])
        core.act(on: core.withLedger { $0.freed(wait.number) })
        onFree()
    }
}
