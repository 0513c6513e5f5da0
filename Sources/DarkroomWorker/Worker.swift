import DarkroomConcurrency
import DarkroomCoordination
import DarkroomExecution
import DarkroomImaging
import DarkroomLogging
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// One worker: claims operations, runs their photos through its two local queues, reports them, and hands back what it
/// does not finish.
///
/// Its threads: the claimer, the reporter, the heart, who looks after outputs that cannot be written, the transfers', and those
/// of the two operation queues.
package final class Worker: Sendable {
    /// New with every start, so that nothing of an earlier process is taken for this one's.
    package let id: String
    let core: WorkerCore
    private let claims: ClaimLoop
    private let reports: ReportLoop
    private let heartbeats: HeartbeatLoop
    private let storage: StorageMonitor
    private let webhooks: WebhookDelivery
    private let threads = Locked<[OwnedThread]>([])
    private let subscription = Locked<RedisSubscription?>(nil)
    private let redis: RedisConfiguration
    private let stopSignal = Signal()
    private let stopRequested = Latch()
    /// Set when nothing more is claimed.
    private let claimsEnded = Latch()
    private let finished = DispatchSemaphore(value: 0)

    /// A worker that has not started.
    /// - Parameters:
    ///   - redis: where the Redis is and how to get in.
    ///   - keys: the namespace it works in.
    ///   - configuration: what it may do, and how much at once.
    ///   - logger: what people running the worker should know goes there, from any thread.
    /// - Throws: ``InvalidHelper`` when a helper process is not used as it must be, `ImagingError` when libvips cannot be started.
    package init(
        redis: RedisConfiguration, keys: Keys, configuration: WorkerConfiguration,
        logger: Logger = .silent
    ) throws {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        let safeHost = host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "-" }
        id = "\(String(safeHost))-\(getpid())-\(random)"
        self.redis = redis
        if let problem = configuration.helperProblem { throw problem }
        if configuration.work == .photos { try Imaging.start() }
        var commands = redis
        commands.replyTimeout = min(redis.replyTimeout, HeartbeatLoop.replyTimeout)
        let store = BatchStore(commands, keys: keys)
        let logger = logger.with([.worker: .text(id)])
        webhooks = WebhookDelivery(store, configuration, logger: logger)
        core = WorkerCore(
            id: id, store: store, configuration: configuration, logger: logger,
            onDueWebhooks: { [webhooks] in webhooks.offer($0) })
        claims = ClaimLoop(core)
        reports = ReportLoop(core)
        heartbeats = HeartbeatLoop(core)
        storage = StorageMonitor(core)
    }

    /// Connects and begins to work; returns at once.
    /// - Throws: `RedisError` when Redis cannot be reached.
    package func start() throws {
        try core.coordination.store.connection.connect()
        core.coordination.logger.info(
            "worker started",
            [
                "downloads": .number(core.configuration.downloads),
                "filtrations": .number(core.configuration.filtrations), "redis": .text(redis.displayName),
                "keys": .text(core.coordination.store.keys.prefix), "version": .text(darkroomVersion),
            ])
        if core.configuration.helperArguments != nil { Self.logConfinement(.found(), core.coordination.logger) }
        let notices = RedisSubscription(redis, channels: [core.coordination.store.keys.controlChannel]) {
            [core, claims] event in
            guard core.configuration.receivesNotices else { return }
            switch event {
            case .message(_, let text):
                guard let notice = ChangeNotice(text) else { return }
                core.handle(.noticed(notice))
                claims.noticed(notice)
            case .subscribed:  // what was published before was not heard
                core.coordination.heartbeatSignal.raise()
                claims.noticesMissed()
            case .disconnected: break
            }
        }
        subscription.withLock { $0 = notices }
        threads.withLock {
            $0 = [
                OwnedThread("darkroom-leases") { [heartbeats] in heartbeats.run() },
                OwnedThread("darkroom-claims") { [claims, claimsEnded, stopSignal] in
                    claims.run()
                    claimsEnded.set()
                    stopSignal.raise()
                },
                OwnedThread("darkroom-reports") { [reports] in reports.run() },
                OwnedThread("darkroom-events") { [core] in core.coordination.events.run() },
                OwnedThread("darkroom-outputs") { [storage] in storage.run() },
            ]
        }
        _ = OwnedThread("darkroom-worker") { [self] in end() }
    }

    /// Logs which layers of the confinement of helper processes the kernel does not offer.
    static func logConfinement(_ facts: ConfinementFacts, _ logger: Logger) {
        guard !facts.missing.isEmpty else { return }
        logger.warning(
            "kernel does not confine helper processes in every way",
            ["detail": .text("not confined: " + facts.missing.joined(separator: ", ") + "; darkroom doctor says more")])
    }

    /// Stops claiming and starting, hands back what does not run, lets running photos end within the grace time and
    /// hands back the rest. Returns at once, see ``wait()``.
    package func stop() {
        stopRequested.set()
        stopSignal.raise()
    }

    /// Leaves now: nothing is handed back, the leases expire.
    package func leave() {
        core.coordination.leaving.set()
        core.coordination.logger.info("worker leaving at once")
        stop()
    }

    /// Blocks until the worker has stopped.
    package func wait() {
        finished.wait()
        finished.signal()
    }

    /// How many photos this worker has made final.
    package var photosDone: Int { core.read { $0.photosDone } }

    /// Waits to be stopped, and takes the worker down.
    private func end() {
        while !stopRequested.isSet { stopSignal.wait() }
        core.coordination.logger.info("worker stopping", ["grace": .seconds(core.configuration.grace)])
        core.handle(.stopping)
        webhooks.stop()
        let deadline = ContinuousClock.now + core.configuration.grace
        // The reporter hands back as photos end; whoever asks to leave raises the signal, too.
        while !isEmpty, !core.coordination.leaving.isSet, .now < deadline {
            stopSignal.wait(timeout: .milliseconds(20))
        }
        if !isEmpty, !core.coordination.leaving.isSet {
            core.handle(.aborting)
            // Aborted transfers end in a millisecond, filters at their next check; encoders that cannot stop are not waited for.
            let last = ContinuousClock.now + .seconds(1)
            while !isEmpty, !core.coordination.leaving.isSet, .now < last {
                stopSignal.wait(timeout: .milliseconds(20))
            }
        }
        // Whatever a last claim brings is in the ledger before the reporter hands back for the last time.
        core.coordination.claimsEnd.set()
        core.coordination.claimSignal.raise()
        while !claimsEnded.isSet, !core.coordination.leaving.isSet { stopSignal.wait(timeout: .milliseconds(20)) }
        heartbeats.stop()
        reports.stop()
        core.coordination.events.stop()
        storage.stop()
        if !core.coordination.leaving.isSet {
            for thread in threads.withLock({ $0 }) { thread.join() }
            webhooks.end()
            // A worker that cannot say goodbye is taken off the list after an hour.
            do {
                try core.coordination.store.perform(core.coordination.store.leave(worker: id))
            } catch {
                core.coordination.logger.warning("worker stays listed for an hour", ["detail": .text(error)])
            }
        }
        subscription.withLock { $0 }?.close()
        core.shutDown()
        core.coordination.store.connection.close()
        let (photos, left) = core.read { ($0.photosDone, $0.held.count) }
        core.coordination.logger.info("worker stopped", ["photos": .number(photos), "held": .number(left)])
        core.coordination.logger.flush()
        finished.signal()
    }

    private var isEmpty: Bool { claimsEnded.isSet && core.read { $0.held.isEmpty } }
}
