import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation

/// Delivers the webhooks of finished batches, each at least once, to the hosts that are allowed for this worker.
///
/// A heartbeat reply lists the ten webhooks that have been due for the longest time. If a reply lists ten, more
/// webhooks may be due, and this worker may be allowed to deliver only webhooks that are not listed. Therefore the
/// worker searches for further webhooks. To take a webhook, a worker sets the due time of the webhook to one minute
/// from now, so that another worker delivers the webhook if the first worker ends before the delivery. Each delivery
/// has its own thread. A server that does not answer occupies at most half of the threads.
final class WebhookDelivery: Sendable {
    private static let maxAtOnce = 8
    private static let maxAtOnceToAServer = 4
    private static let timeout = Duration.seconds(10)
    /// The time for which other workers ignore a webhook that this worker has taken.
    private static let hold = Duration.seconds(60)
    /// The largest number of webhooks in a heartbeat reply.
    private static let fullList = 10
    /// The number of webhooks that one search reads.
    private static let searchSize = 1000
    /// The largest number of pending webhooks. A later search finds the webhooks beyond this number again.
    static let maxPending = 10_000
    /// A search reads the webhooks that became due since the last search. After this interval, a search reads all due
    /// webhooks again, because some of them may have been found and not delivered.
    private static let fullSearchInterval = Duration.seconds(600)

    private struct State {
        /// The due webhooks that this worker may deliver, oldest first.
        var pending: [DueWebhook] = []
        /// The webhooks that are being delivered. The key is the member of the webhook in the sorted set in Redis, and
        /// the value is the server of the webhook.
        var underway: [String: String] = [:]
        /// The next search starts at the due time `time`, and skips the `read` webhooks with this due time that earlier
        /// searches have read.
        var searchFrom = (time: 0, read: 0)
        /// The time at which the last search of all due webhooks began.
        var fullSearch = ContinuousClock.now
        /// The time at which the next search may start; nil while a search is running.
        var nextSearch: ContinuousClock.Instant? = .now
        /// The number of searches, and the number of webhooks that the searches have read.
        var searches = (count: 0, webhooks: 0)
        var isStopping = false
    }

    private let store: BatchStore
    private let hosts: WebhookHosts
    private let secret: [UInt8]?
    private let searchPause: Duration
    private let logger: Logger
    private let state = Locked(State())
    private let ended = Signal()
    private let aborted = Latch()

    /// - Parameter searchPause: the time between two searches, which bounds the load of Redis.
    init(
        _ store: BatchStore, to hosts: WebhookHosts, secret: [UInt8]?, searchPause: Duration = .seconds(10),
        logger: Logger
    ) {
        self.store = store
        self.searchPause = searchPause
        self.hosts = hosts
        self.secret = secret
        self.logger = logger
    }

    /// Delivers the due webhooks that this worker may deliver. Never blocks. Called with each heartbeat reply.
    func offer(_ due: [DueWebhook]) {
        guard !state.withLock({ $0.isStopping }), !hosts.isEmpty else { return }
        begin(due)
        if due.count >= Self.fullList { search() }
    }

    /// The number of webhooks that wait for their delivery.
    var pending: Int { state.withLock { $0.pending.count } }
    /// The number of searches.
    var searches: Int { state.withLock { $0.searches.count } }
    /// The number of webhooks that the searches have read.
    var searched: Int { state.withLock { $0.searches.webhooks } }

    /// Stops the delivery: webhooks in later heartbeat replies are ignored.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Delivers the webhooks of batches that finished with the last photos of this worker. After `timeout`, this method
    /// aborts the running deliveries, so that other workers can take the webhooks. Blocks for at most twice `timeout`,
    /// unless Redis does not answer.
    func end(timeout: Duration = .seconds(1)) {
        stop()
        if !hosts.isEmpty {
            // If Redis is unreachable, the heartbeat loop logs it, and another worker delivers the due webhooks.
            let answer = try? store.perform(store.heartbeat(worker: nil))
            begin(answer?.webhooks ?? [])
        }
        for isLast in [false, true] {
            if isLast { aborted.set() }
            let deadline = ContinuousClock.now + timeout
            while !state.withLock({ $0.underway.isEmpty }), .now < deadline { ended.wait(timeout: deadline - .now) }
        }
    }

    /// Adds to `pending` the webhooks that this worker may deliver, and starts deliveries.
    private func begin(_ due: [DueWebhook]) {
        let mine = due.filter { hosts.allow($0.url) }
        state.withLock { state in
            var known = Set(state.pending.map(\.member)).union(state.underway.keys)
            let news = mine.filter { known.insert($0.member).inserted }
            state.pending += news.prefix(Self.maxPending - state.pending.count)
        }
        beginPending()
    }

    /// Starts pending deliveries, within the limits for threads.
    private func beginPending() {
        let begun = state.withLock { state in
            var (begun, waiting): ([DueWebhook], [DueWebhook]) = ([], [])
            for webhook in state.pending {
                let server = Self.server(of: webhook.url)
                if state.underway.count < Self.maxAtOnce,
                    state.underway.values.count(where: { $0 == server }) < Self.maxAtOnceToAServer
                {
                    state.underway[webhook.member] = server
                    begun.append(webhook)
                } else {
                    waiting.append(webhook)
                }
            }
            state.pending = waiting
            return begun
        }
        for webhook in begun {
            _ = OwnedThread("darkroom-webhook") { [self] in
                deliver(webhook)
                let isStopping = state.withLock { state in
                    state.underway[webhook.member] = nil
                    return state.isStopping
                }
                if !isStopping { beginPending() }
                ended.raise()
            }
        }
    }

    /// Reads further due webhooks from Redis, and starts to deliver those that this worker may deliver.
    private func search() {
        let from = state.withLock { state -> (time: Int, read: Int)? in
            guard let next = state.nextSearch, next <= .now else { return nil }
            state.nextSearch = nil
            if .now - state.fullSearch >= Self.fullSearchInterval {
                (state.searchFrom, state.fullSearch) = ((0, 0), .now)
            }
            return state.searchFrom
        }
        guard let from else { return }
        _ = OwnedThread("darkroom-webhook") { [self] in
            // If Redis is unreachable, the heartbeat loop logs it, and a later search starts at the same webhook.
            let found = try? store.dueWebhooks(since: from.time, from: from.read, atMost: Self.searchSize)
            if let found { begin(found) }
            state.withLock { state in
                if let last = found?.last?.score {
                    let ofLast = found?.count { $0.score == last } ?? 0
                    state.searchFrom = (last, ofLast + (last == from.time ? from.read : 0))
                }
                state.searches.count += 1
                state.searches.webhooks += found?.count ?? 0
                state.nextSearch = .now + searchPause
            }
        }
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
            _ = try store.perform(store.endWebhookAttempt(webhook.member, score: score, retryAfter: pause))
        } catch {
            // The webhook is due again after `hold`.
            logger.warning(
                "outcome of a webhook cannot be recorded, it is tried again later", key: webhook.batch.description,
                [.batch: .text(webhook.batch), "detail": .text(error)])
        }
    }

    /// - Returns: the time to wait before the next attempt; nil if there are no more attempts.
    private func post(_ request: WebhookRequest, _ webhook: DueWebhook, _ attempt: Int) -> Duration? {
        let server = Self.server(of: webhook.url)
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
            // This worker aborted the delivery, so another worker may try at once.
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

    /// The scheme, host and port of a URL. The path is omitted, since it may be a secret.
    private static func server(of url: String) -> String {
        Origin(url: url).map { "\($0.scheme)://\($0.host):\($0.port)" } ?? "its URL"
    }
}
