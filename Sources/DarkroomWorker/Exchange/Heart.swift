import DarkroomConcurrency
import DarkroomLogging
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// Sends the heartbeats of a worker, on a thread of its own: no image work delays them.
final class Heart: Sendable {
    private let core: WorkerCore
    private let facts: @Sendable () -> [(field: String, value: String)]
    private let stopped = Latch()
    /// How many operations were left to others at the last heartbeat.
    private let toldLeft = Locked(0)

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
        defer { core.lookout.end() }
        while !stopped.isSet {
            let began = ContinuousClock.now
            var hasMore = false
            do {
                hasMore = try beat()
                if isAway {
                    core.logger.info("Redis is back")
                    core.ringsTurn.withLock { $0 = -1 }  // no turn of any rings: an idle worker claims at once
                }
                isAway = false
                core.heartBeats.withLock { $0 = true }
                // Whatever has news goes with this heartbeat, also downloads alone; and idle workers look for work.
                core.reportSignal.raise()
                core.claimSignal.raise()
            } catch {
                if !isAway {
                    core.logger.warning("Redis cannot be used, waiting until it can", ["detail": .text(error)])
                }
                isAway = true
                core.heartBeats.withLock { $0 = false }
            }
            core.lookout.look(began: began)
            core.logger.writeDue()
            if hasMore { continue }
            let lease = core.read { $0.shortestLease }
            core.heartSignal.wait(timeout: isAway ? Self.retryInterval : Self.interval(shortestLease: lease))
            // Hints of many changes, each of which asks for a heartbeat, are answered by one.
            while !stopped.isSet, .now < began + Self.shortestInterval {
                core.heartSignal.wait(timeout: began + Self.shortestInterval - .now)
            }
        }
    }

    private static let shortestInterval = Duration.milliseconds(20)

    /// A fifth of the shortest lease, 3 s at most.
    ///
    /// However long Redis was away, 3 s of that are counted against a lease. Together with what had passed since it was renewed,
    /// and with the moment that this worker needs longer than others to be back (``retryInterval`` and the attempts of the
    /// connection), that must be less than the shortest lease, 6 s.
    static func interval(shortestLease: Duration?) -> Duration {
        shortestLease.map { min(.seconds(3), $0 / 5) } ?? .seconds(3)
    }

    /// How long the connection waits for a reply. After a half-open connection, the leases must be renewed before the
    /// shortest lease (6 s) expires: the time since the last renewal, this timeout, and the time for a new connection must be
    /// less.
    static let replyTimeout = Duration.seconds(3)

    /// How long after a heartbeat that failed the next one is tried.
    static let retryInterval = Duration.milliseconds(250)

    /// Sends a heartbeat and takes what it tells.
    /// - Returns: true when another at once is welcome.
    private func beat() throws(StoreError) -> Bool {
        let highest = core.read { $0.controlsVersion }
        let (held, left) = core.renewed
        if left > 0, left != toldLeft.withLock({ $0 }) {
            core.logger.error(
                "a file system does not answer, operations are left to others", ["operations": .number(left)])
        }
        toldLeft.withLock { $0 = left }
        var calls: [ScriptCall<HeartbeatReply>] = []
        for start in stride(from: 0, through: max(0, held.count - 1), by: 64) {
            let part = Array(held[start..<min(start + 64, held.count)])
            calls.append(core.store.heartbeat(worker: core.id, facts: facts(), held: part))
        }
        let replies = try core.store.perform(calls)
        core.lost(replies.flatMap(\.lost))
        for (place, reply) in replies.enumerated() {
            // A change between two parts of the answer may be missing in the first part.
            let isLast = place == replies.count - 1
            core.handle(
                .answered(
                    ControlsAnswer(
                        version: reply.version, sent: highest, cluster: reply.cluster, batches: reply.controls,
                        completeVersion: isLast ? replies[0].version : nil)))
        }
        if let turn = replies.last?.turn { core.ringsTurn.withLock { $0 = turn } }
        let lost = Set(replies.flatMap(\.lost))
        for stateCodes in replies.flatMap(\.stateCodes) {
            let meant = held.first { $0.batch == stateCodes.batch && $0.number == stateCodes.number }
            if let meant, !lost.contains(meant) { core.handle(.stateCodes(stateCodes.stateCodes, of: meant)) }
        }
        for left in replies.compactMap(\.staleFiles) { core.clean(left) }
        // Parts of an answer list the same webhooks.
        if let webhooks = replies.last?.webhooks, !webhooks.isEmpty { core.onDueWebhooks(webhooks) }
        return replies.contains { $0.hasMore }
    }
}
