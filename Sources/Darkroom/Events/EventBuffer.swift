import DarkroomConcurrency
import DarkroomRedis

/// What was told and not taken yet, for one task; when it is full, the oldest events are dropped and counted.
final class EventBuffer: Sendable {
    typealias Observation = EventStream.Observation

    private struct State {
        /// The oldest at `first`; those before it are taken.
        var waiting: [Observation] = []
        var first = 0
        var missed = 0
        var observer: CheckedContinuation<Observation?, Never>?
        var isCancelled = false

        var count: Int { waiting.count - first }

        mutating func removeFirst() -> Observation {
            defer {
                first += 1
                // Moved to the beginning now and then, which costs each element one move.
                if first * 2 > waiting.count {
                    waiting.removeFirst(first)
                    first = 0
                }
            }
            return waiting[first]
        }

        /// What comes next: that some were missed before what came after them.
        mutating func next() -> Observation? {
            if missed > 0 {
                defer { missed = 0 }
                return .missed(missed)
            }
            return count > 0 ? removeFirst() : nil
        }
    }

    private let capacity: Int
    private let state = Locked(State())

    init(capacity: Int) { self.capacity = capacity }

    /// Adds what was told. Never blocks.
    func add(_ observation: Observation) {
        let observer = state.withLock { state -> CheckedContinuation<Observation?, Never>? in
            if let observer = state.observer {
                state.observer = nil
                return observer
            }
            if state.count == capacity {
                // A `subscribed` may be dropped, too: whoever hears that some were missed reads all again as well.
                _ = state.removeFirst()
                state.missed += 1
            }
            state.waiting.append(observation)
            return nil
        }
        observer?.resume(returning: observation)
    }

    /// Takes the next; nil when the task is cancelled.
    func next() async -> Observation? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isNow, next) = state.withLock { state -> (Bool, Observation?) in
                    if state.isCancelled { return (true, nil) }
                    if let next = state.next() { return (true, next) }
                    state.observer = continuation
                    return (false, nil)
                }
                if isNow { continuation.resume(returning: next) }
            }
        } onCancel: {
            let observer = state.withLock { state in
                state.isCancelled = true
                defer { state.observer = nil }
                return state.observer
            }
            observer?.resume(returning: nil)
        }
    }
}
