import Darkroom
import DarkroomConcurrency
import DarkroomRedis
import DarkroomStore
import Foundation

/// Reads what `watch` shows, on a thread of its own, again and again: at once after an event, else a few times a second.
///
/// It does what a living worker would meanwhile: the operations of dead ones are recovered, also when nobody else lives.
final class WatchSource: Sendable {
    private struct State {
        var isClosed = false
        /// True when events may have been missed.
        var mustReadAll = true
        /// Photos that have failed since the last reading, the newest last.
        var failed: [(index: Int, reason: FailureReason)] = []
        /// Batches that are not what they were.
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

    /// Begins to read into `inbox`.
    /// - Parameter watched: the batch; nil is all.
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

    /// Does what a user has asked for, and posts what became of it.
    func perform(_ request: WatchRequest) {
        state.withLock { $0.requests.append(request) }
        signal.raise()
    }

    // MARK: - Events

    private func take(_ event: RedisSubscriptionEvent) {
        switch event {
        case .subscribed: state.withLock { $0.mustReadAll = true }
        case .disconnected: return  // the reader notices by itself
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
                inbox.post(.lost("\(error)"))
            } catch {
                inbox.post(.failed(error))
                return
            }
            // Events come faster than anybody reads. The second wait is a pause that no signal is to end: it bounds how often
            // Redis is asked; whoever closes waits for it, a tenth of a second at most.
            signal.wait(timeout: .milliseconds(watched == nil ? 500 : 250))
            let soonest = began + .milliseconds(100)
            while .now < soonest { Thread.sleep(forTimeInterval: (soonest - .now) / .seconds(1)) }
        }
    }

    private func perform(now request: WatchRequest) {
        do {
            inbox.post(.note(try answer(to: request)))
        } catch {
            inbox.post(.note("not done: \(error)"))
        }
    }

    private func answer(to request: WatchRequest) throws -> String {
        switch request {
        case .suspend(let id):
            _ = try client.control.suspend(id, .everything)
            return "suspended: no download and no filtration begins now"
        case .resume(let id):
            _ = try client.control.resume(id, .everything)
            return "resumed"
        case .cancel(let id?):
            _ = try client.control.cancel(id)
            return "cancelled: what has not begun never will"
        case .cancel(nil): return "\(HumanText.count(try client.control.cancelAll(), of: "batch")) cancelled"
        }
    }

    /// Ends reading; returns when the threads have ended.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.raise()
        subscription.withLock { $0 }?.close()
        thread.withLock { $0 }?.join()
    }
}
