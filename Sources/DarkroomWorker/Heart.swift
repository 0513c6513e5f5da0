import DarkroomConcurrency
import DarkroomStore
import Foundation

/// Sends the heartbeats of a worker, on a thread of its own: no image work delays them.
final class Heart: Sendable {
    private let core: WorkerCore
    private let facts: @Sendable () -> [(field: String, value: String)]
    private let stopped = Latch()

    init(_ core: WorkerCore, facts: @escaping @Sendable () -> [(field: String, value: String)]) {
        self.core = core
        self.facts = facts
    }

    /// Ends the thread after the heartbeat that may be under way.
    func stop() {
        stopped.set()
        core.heartSignal.raise()
    }

    /// Runs until ``stop()``.
    func run() {
        var isAway = false
        while !stopped.isSet {
            do {
                try beat()
                if isAway { core.log("Redis is back") }
                isAway = false
                core.heartBeats.withLock { $0 = true }
                // Whatever has news goes with this heartbeat, also downloads alone; and idle workers look for work.
                core.reportSignal.raise()
                core.claimSignal.raise()
            } catch {
                if !isAway { core.log("Redis cannot be used, waiting until it can: \(error)") }
                isAway = true
                core.heartBeats.withLock { $0 = false }
            }
            core.heartSignal.wait(timeout: isAway ? .milliseconds(500) : interval)
        }
    }

    /// 3 s or a third of the shortest lease, whichever is less.
    private var interval: Duration {
        min(.seconds(3), (core.withLedger { $0.shortestLease } ?? .seconds(9)) / 3)
    }

    private func beat() throws(StoreError) {
        let held = core.withLedger { $0.held }
        var calls: [ScriptCall<HeartbeatReply>] = []
        for start in stride(from: 0, through: max(0, held.count - 1), by: 64) {
            let part = Array(held[start..<min(start + 64, held.count)])
            calls.append(core.store.heartbeat(worker: core.id, facts: facts(), held: part))
        }
        core.drop(try core.store.perform(calls).flatMap(\.lost))
    }
}
