import DarkroomConcurrency
import DarkroomImaging
import DarkroomLogging
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// A worker. It claims operations, runs their photos through its two local queues, reports the operations, and releases
/// operations that it cannot finish.
///
/// Its threads run the claim loop, the report loop, the heartbeat loop, the photo events, the storage monitor, the
/// transfer engine and the two local queues.
package final class Worker: Sendable {
    /// The worker's id. Each start creates a new id, so that no worker takes over leases of an earlier process.
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
    /// Set when the claim loop has ended.
    private let claimsEnded = Latch()
    private let finished = DispatchSemaphore(value: 0)

    /// Creates a worker without starting it.
    /// - Parameters:
    ///   - configuration: the settings. Their bounds have been checked.
    ///   - observer: called with each observation; nil if nothing measures the worker.
    ///   - logger: gets messages for operators, from any thread.
    /// - Throws: ``InvalidHelper`` if the settings of helper processes are invalid, ``InvalidSetting`` if a text is invalid,
    ///   `ImagingError` if libvips cannot be started.
    package init(
        redis: RedisConfiguration, keys: Keys, configuration: PhotoWorkerConfiguration,
        hooks: WorkerHooks = WorkerHooks(), observer: WorkerObserver? = nil, logger: Logger = .silent
    ) throws {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        let safeHost = host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "-" }
        id = "\(String(safeHost))-\(getpid())-\(random)"
        self.redis = redis
        if let problem = configuration.helperProblem { throw problem }
        let transfer = try configuration.downloadRules.transferConfiguration(hooks.transfer)
        if hooks.work == .photos { try Imaging.start() }
        var commands = redis
        commands.replyTimeout = min(redis.replyTimeout, HeartbeatLoop.replyTimeout)
        let store = BatchStore(commands, keys: keys, observer: observer.map(Self.ofConnection))
        let logger = logger.with([.worker: .text(id)])
        webhooks = WebhookDelivery(
            store, to: try configuration.parsedWebhookHosts, secret: configuration.webhookSecret, logger: logger)
        core = WorkerCore(
            id: id, store: store, configuration: configuration, transfer: transfer, hooks: hooks, observer: observer,
            logger: logger, onDueWebhooks: { [webhooks] in webhooks.offer($0) })
        claims = ClaimLoop(core)
        reports = ReportLoop(core)
        heartbeats = HeartbeatLoop(core)
        storage = StorageMonitor(core)
    }

    /// Returns an observer of a connection that passes its observations to the observer of the worker.
    private static func ofConnection(
        _ observer: @escaping WorkerObserver
    ) -> @Sendable (ConnectionObservation) -> Void {
        { observation in
            switch observation {
            case .answered(let time): observer(.redisAnswered(time))
            case .reconnected: observer(.redisReconnected)
            }
        }
    }

    /// Connects to Redis and starts the threads. Does not wait for operations.
    /// - Throws: `RedisError` if Redis cannot be reached.
    package func start() throws {
        try core.coordination.store.connection.connect()
        core.coordination.logger.info(
            "worker started",
            [
                "downloads": .number(core.configuration.downloadSlots),
                "filtrations": .number(core.configuration.filtrationSlots), "redis": .text(redis.displayName),
                "keys": .text(core.coordination.store.keys.prefix), "version": .text(darkroomVersion),
            ])
        if core.configuration.helperArguments != nil { Self.logConfinement(.found(), core.coordination.logger) }
        let notices = RedisSubscription(redis, channels: [core.coordination.store.keys.controlChannel]) {
            [core, claims] event in
            guard core.hooks.receivesNotices else { return }
            switch event {
            case .message(_, let text):
                guard let notice = ChangeNotice(text) else { return }
                if case .idle(let idle) = notice, !idle.isFor(draw: .random(in: 0..<1)) { return }
                core.handle(.noticed(notice))
                claims.noticed(notice)
            case .subscribed:  // earlier notices were not received
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

    /// Logs which parts of the confinement of helper processes the kernel does not support.
    static func logConfinement(_ facts: ConfinementFacts, _ logger: Logger) {
        guard !facts.missing.isEmpty else { return }
        logger.warning(
            "kernel does not confine helper processes in every way",
            [
                "detail": .text(
                    "not confined: " + facts.missing.joined(separator: ", ") + "; the command doctor says more")
            ])
    }

    /// Makes the worker stop: it claims no more operations and starts no more photos. Operations without running photos
    /// are released at once; other operations are released when their photos have ended or the grace time is over.
    /// Returns at once, see ``wait()``.
    package func stop() {
        stopRequested.set()
        stopSignal.raise()
    }

    /// Ends the worker at once, without releasing operations. Their leases expire.
    package func leave() {
        core.coordination.leaving.set()
        core.coordination.logger.info("worker leaving at once")
        stop()
    }

    package func wait() {
        finished.wait()
        finished.signal()
    }

    package var photosDone: Int { core.read { $0.photosDone } }

    /// The present load of the worker, for measurements.
    package var gauges: WorkerGauges { WorkerGauges(core) }

    /// Whether the worker can claim operations now: it is not stopping, and Redis can be used.
    package var canWork: Bool { !stopRequested.isSet && core.coordination.redisProblem.withLock { $0 } == nil }

    /// Waits for ``stop()``, and then ends the worker.
    private func end() {
        while !stopRequested.isSet { stopSignal.wait() }
        core.coordination.logger.info("worker stopping", ["grace": .seconds(core.configuration.gracePeriod)])
        core.handle(.stopping)
        webhooks.stop()
        let deadline = ContinuousClock.now + core.configuration.gracePeriod
        // The report loop releases operations when their photos have ended. `leave()` also raises the signal.
        while !isEmpty, !core.coordination.leaving.isSet, .now < deadline {
            stopSignal.wait(timeout: .milliseconds(20))
        }
        if !isEmpty, !core.coordination.leaving.isSet {
            core.handle(.aborting)
            // Aborted transfers end within 1 ms, and filtrations at their next check. The worker waits at most 1 s,
            // since some encoders cannot be stopped.
            let last = ContinuousClock.now + .seconds(1)
            while !isEmpty, !core.coordination.leaving.isSet, .now < last {
                stopSignal.wait(timeout: .milliseconds(20))
            }
        }
        // The claim loop ends first, so that the operations of its last claim are also released.
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
            // If this call fails, Redis keeps the worker in its list for an hour.
            do {
                try core.coordination.store.perform(core.coordination.store.leave(worker: id))
            } catch {
                core.coordination.logger.warning(
                    "worker could not be removed from the list of workers, stays listed for an hour",
                    ["detail": .text(error)])
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
