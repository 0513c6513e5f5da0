import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation

/// Delivers the webhooks of batches that have finished, each at least once, to the hosts that this worker may deliver to.
///
/// Heartbeats tell which are due. A worker takes one by moving it a minute ahead, so that another takes it up when this one
/// dies of it; each delivery has a thread of its own.
final class WebhookDelivery: Sendable {
    private static let maxAtOnce = 4
    private static let timeout = Duration.seconds(10)
    /// How long a webhook that was taken is nobody else's.
    private static let hold = Duration.seconds(60)
    /// As many webhooks as a heartbeat tells of.
    private static let fullList = 10
    /// For how long one is put off that stands in the way of others.
    private static let detour = Duration.seconds(30)

    private struct State {
        var underway: Set<String> = []
        /// What is due and not this worker's, and since when that is known.
        var others: [DueWebhook: ContinuousClock.Instant] = [:]
        var isStopping = false
    }

    private let store: BatchStore
    private let hosts: WebhookHosts
    private let secret: [UInt8]?
    private let patience: Duration
    private let logger: Logger
    private let state = Locked(State())
    private let ended = Signal()
    private let aborted = Latch()

    /// - Parameter patience: how long other workers have to take what this one may not deliver: as long as each needs to have
    ///   had a heartbeat.
    init(
        _ store: BatchStore, _ configuration: WorkerConfiguration, patience: Duration = .seconds(5),
        logger: Logger
    ) {
        self.store = store
        self.patience = patience
        hosts = configuration.webhookHosts
        secret = configuration.webhookSecret
        self.logger = logger
    }

    /// Begins to deliver what is due and may go out from here; never blocks. Called with every heartbeat's answer.
    func offer(_ due: [DueWebhook]) {
        guard !state.withLock({ $0.isStopping }) else { return }
        begin(due)
        passOn(due.filter { !hosts.allow($0.url) }, isListFull: due.count >= Self.fullList)
    }

    /// Nothing that heartbeats tell of is begun any more.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Delivers what the last photos of this worker made due, gives what is under way a second to end, then breaks it off and
    /// gives it back. Blocks two seconds at most, unless Redis does.
    func end() {
        stop()
        if !hosts.isEmpty {
            // Redis that is away is told of by the heart; whoever comes next delivers what is due.
            let answer = try? store.perform(store.heartbeat(worker: nil))
            begin(answer?.webhooks ?? [])
        }
        for isLast in [false, true] {
            if isLast { aborted.set() }
            let deadline = ContinuousClock.now + .seconds(1)
            while !state.withLock({ $0.underway.isEmpty }), .now < deadline { ended.wait(timeout: deadline - .now) }
        }
    }

    private func begin(_ due: [DueWebhook]) {
        for webhook in due where hosts.allow(webhook.url) {
            let isMine = state.withLock { state in
                state.underway.count < Self.maxAtOnce && state.underway.insert(webhook.member).inserted
            }
            guard isMine else { continue }
            _ = OwnedThread("darkroom-webhook") { [self] in
                deliver(webhook)
                state.withLock { _ = $0.underway.remove(webhook.member) }
                ended.raise()
            }
        }
    }

    /// Puts off webhooks for other workers that fill the list of those due, once those have had the time to take them.
    /// Else ten that no worker may deliver would keep all others waiting.
    private func passOn(_ others: [DueWebhook], isListFull: Bool) {
        let stuck = state.withLock { state in
            state.others = Dictionary(uniqueKeysWithValues: Set(others).map { ($0, state.others[$0] ?? .now) })
            guard isListFull else { return [DueWebhook]() }
            return others.filter { state.others[$0].map { .now - $0 >= patience } ?? false }
        }
        // Whoever comes first moves it; what is not moved is seen again with the next heartbeat.
        store.send(stuck.map { store.settleWebhook($0.member, score: $0.score, retryAfter: Self.detour) }) { _ in }
    }

    private func deliver(_ webhook: DueWebhook) {
        do throws(StoreError) {
            let reply = try store.perform(store.takeWebhook(webhook, for: Self.hold))
            guard case .taken(let attempt, let score) = reply else { return }
            var pause: Duration?
            if let batch = try store.facts(of: webhook.batch) {
                let request = WebhookRequest(batch, round: webhook.round, now: try store.time(), secret: secret)
                pause = post(request, webhook, attempt)
            }
            _ = try store.perform(store.settleWebhook(webhook.member, score: score, retryAfter: pause))
        } catch {
            // Nobody has settled it: it is due again when the time that it was taken for is over.
            logger.warning(
                "webhook cannot be settled, it is tried again later", key: webhook.batch.description,
                [.batch: .text(webhook.batch), "detail": .text(error)])
        }
    }

    /// Sends a request.
    /// - Returns: how long to wait before the next attempt; nil when none follows.
    private func post(_ request: WebhookRequest, _ webhook: DueWebhook, _ attempt: Int) -> Duration? {
        // Of the URL only the server: its path may be a secret.
        let server = WebAddress(url: webhook.url).map { "\($0.scheme)://\($0.host):\($0.port)" } ?? "its URL"
        var event: LogMetadata = [
            .batch: .text(webhook.batch), "server": .text(server), "attempt": .number(attempt),
        ]
        do throws(TransferError) {
            let post = WebPost(headers: request.headers, timeout: Self.timeout) { [aborted] in aborted.isSet }
            let status = try post.send(request.body, to: webhook.url)
            if (200..<300).contains(status) {
                logger.info("webhook delivered", event)
                return nil
            }
            event["detail"] = .text("HTTP status \(status)")
        } catch {
            // Broken off by this side: whoever comes next tries at once.
            if error.code == .cancelled { return .zero }
            event["detail"] = .text(error.detail)
        }
        guard let pause = WebhookSchedule.pause(after: attempt) else {
            logger.error("webhook given up", event)
            return nil
        }
        event["pause"] = .seconds(pause)
        logger.warning("webhook failed, it is tried again", key: server, event)
        return pause
    }
}
