import DarkroomConcurrency
import DarkroomStore

/// Serves all waits of a client on one thread: it reads the batches of all waits repeatedly, each batch once per
/// reading. The thread runs while there are waits, even if nothing else refers to this object.
final class WaitThread: Sendable {
    private struct Waiting {
        var wait: BatchWait
        let answer: Answer<[BatchFacts]>
    }

    private struct State {
        var waits: [Waiting] = []
        var isRunning = false
    }

    private static let shortestPause = Duration.milliseconds(250)
    /// Reading many batches takes long. The pause after a reading is this factor times the duration of the reading, but
    /// at most ``longestPause``.
    private static let readingPauseFactor = 20.0
    private static let longestPause = Duration.seconds(3)
    private static let heartbeatInterval = Duration.seconds(3)

    private let store: BatchStore
    private let state = Locked(State())
    /// Raised when a wait was added.
    private let news = Signal()

    init(_ store: BatchStore) { self.store = store }

    /// Returns at once; passes the result of the wait to `answer` when the wait ends.
    func add(_ wait: BatchWait, _ answer: Answer<[BatchFacts]>) {
        state.withLock { state in
            state.waits.append(Waiting(wait: wait, answer: answer))
            if !state.isRunning { _ = OwnedThread("darkroom-wait") { [self] in run() } }
            state.isRunning = true
        }
        news.raise()
    }

    private func run() {
        var nextHeartbeat = ContinuousClock.now
        while let waits = current() {
            var pause = Self.shortestPause
            do {
                if nextHeartbeat <= .now {
                    try BatchWaiter.maintain(store)
                    nextHeartbeat = .now + Self.heartbeatInterval
                }
                let began = ContinuousClock.now
                let open = Set(waits.flatMap(\.wait.open))
                let found = try store.facts(of: open.sorted())
                pause = min(max(pause, (.now - began) * Self.readingPauseFactor), Self.longestPause)
                update { wait in wait.isRead(in: open) ? try wait.take(found) : nil }
            } catch let error as StoreError where error.isPassing {
                // Redis is unreachable: tries again after the pause.
            } catch {
                update { _ in throw error }
            }
            update { wait in try wait.checkDeadline() }
            let deadlines = state.withLock { $0.waits.compactMap(\.wait.deadline) }
            // Polls, since no signal from Redis survives a restart of Redis.
            news.wait(timeout: max(.zero, min(pause, deadlines.min().map { $0 - .now } ?? pause)))
        }
    }

    /// The waits that have no result yet. If all waits have a result, returns nil, and the thread ends.
    private func current() -> [Waiting]? {
        state.withLock { state in
            state.waits.removeAll { $0.answer.isGiven }
            state.isRunning = !state.waits.isEmpty
            return state.isRunning ? state.waits : nil
        }
    }

    /// Calls `step` for each wait. If `step` returns facts or throws an error, the facts or the error are the result of
    /// the wait. If `step` returns nil, the wait continues.
    private func update(_ step: (inout BatchWait) throws -> [BatchFacts]?) {
        state.withLock { state in
            for position in state.waits.indices {
                do {
                    guard let facts = try step(&state.waits[position].wait) else { continue }
                    state.waits[position].answer.give(.success(facts))
                } catch {
                    state.waits[position].answer.give(.failure(error))
                }
            }
            state.waits.removeAll { $0.answer.isGiven }
        }
    }
}
