import Darkroom
import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore
import Foundation

/// Reads the snapshots of `watch` repeatedly on a separate thread: soon after an event, otherwise a few times per
/// second.
///
/// Also runs the same maintenance as workers, so that the operations of lost workers are recovered even if no worker is
/// running.
final class WatchSource: Sendable {
    private struct State {
        var isClosed = false
        var mustReadAll = true
        /// Photos that have failed since the last snapshot, the newest last.
        var failed: [(index: Int, reason: FailureReason)] = []
        /// Batches that have changed since the last snapshot.
        var changed: Set<BatchID> = []
        var requests: [WatchRequest] = []
    }

    private static let keptFailures = 100

    private let client: DarkroomClient
    private let watched: BatchID?
    private let inbox: WatchInbox
    private let signal = Signal()
    private let state = Locked(State())
    private let thread = Locked<OwnedThread?>(nil)
    private let subscription = Locked<RedisSubscription?>(nil)

    /// Starts to post snapshots to `inbox`.
    /// - Parameter watched: The batch; nil for all batches.
    init(_ client: DarkroomClient, watched: BatchID?, inbox: WatchInbox) {
        self.client = client
        self.watched = watched
        self.inbox = inbox
        let events = RedisSubscription(client.location.redis, channels: [client.location.keys.eventsChannel]) {
            [weak self] in
            self?.take($0)
        }
        subscription.withLock { $0 = events }
        let reader = OwnedThread("watch") { [self] in run() }
        thread.withLock { $0 = reader }
    }

    /// Starts a request of the user. Its result is posted to the inbox.
    func perform(_ request: WatchRequest) {
        state.withLock { $0.requests.append(request) }
        signal.raise()
    }

    // MARK: - Events

    private func take(_ event: RedisSubscriptionEvent) {
        switch event {
        case .subscribed: state.withLock { $0.mustReadAll = true }
        case .disconnected: return  // the reading thread gets this error, too
        case .message(_, let payload):
            guard let event = BatchEvent(json: payload), watched == nil || event.batch == nil || event.batch == watched
            else { return }
            state.withLock { state in
                if let batch = event.batch { state.changed.insert(batch) }
                guard watched != nil, case .photos(let photos, _, let dropped) = event.kind else { return }
                if dropped > 0 { state.mustReadAll = true }
                for (index, photo) in photos.sorted(by: { $0.key < $1.key }) {
                    if case .failed(let reason) = photo { state.failed.append((index, reason)) }
                }
                state.failed.removeFirst(max(0, state.failed.count - Self.keptFailures))
            }
        }
        signal.raise()
    }

    // MARK: - Reading

    private func run() {
        var reader = WatchReader(client, watched: watched, keptFailures: Self.keptFailures)
        while true {
            let began = ContinuousClock.now
            let taken = state.withLock { state in
                defer { state = State(isClosed: state.isClosed, mustReadAll: false) }
                return state
            }
            guard !taken.isClosed else { return }
            for request in taken.requests { perform(now: request) }
            do {
                let snapshot = try reader.read(all: taken.mustReadAll, changed: taken.changed, failed: taken.failed)
                inbox.post(.read(snapshot))
            } catch let error as StoreError where error.isPassing {
                state.withLock { $0.mustReadAll = true }
                inbox.post(.lost(RemedyWording.commands.text(of: error)))
            } catch {
                inbox.post(.failed(error))
                return
            }
            // Events can arrive faster than a user can read. The sleep limits the reads to ten per second. A signal
            // does not interrupt the sleep, so `close()` may wait for up to 0.1 s.
            signal.wait(timeout: .milliseconds(watched == nil ? 500 : 250))
            let soonest = began + .milliseconds(100)
            while .now < soonest { Thread.sleep(forTimeInterval: (soonest - .now) / .seconds(1)) }
        }
    }

    private func perform(now request: WatchRequest) {
        do {
            inbox.post(.note(try outcome(of: request)))
        } catch {
            inbox.post(.note("not done: " + RemedyWording.commands.text(of: error)))
        }
    }

    private func outcome(of request: WatchRequest) throws -> String {
        switch request {
        case .suspend(let id):
            _ = try client.control.suspend(id, .everything)
            return "suspended: no download or filtration starts"
        case .resume(let id):
            _ = try client.control.resume(id, .everything)
            return "resumed"
        case .cancel(let id?):
            _ = try client.control.cancel(id)
            return "cancelled: no more photos start"
        case .cancel(nil): return "\(HumanText.count(try client.control.cancelAll(), of: "batch")) cancelled"
        }
    }

    /// Stops reading and waits until the threads have ended.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.raise()
        subscription.withLock { $0 }?.close()
        thread.withLock { $0 }?.join()
    }
}
