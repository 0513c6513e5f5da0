import DarkroomConcurrency

/// The buffered updates for one observer. If the buffer is full, the oldest updates are dropped and counted.
final class EventBuffer: Sendable {
    private struct State {
        var waiting: [ClusterUpdate] = []
        var missed = 0
        var observer: CheckedContinuation<ClusterUpdate?, Never>?
        var isCancelled = false

        mutating func next() -> ClusterUpdate? {
            if missed > 0 {
                defer { missed = 0 }
                return .missed(missed)
            }
            return waiting.isEmpty ? nil : waiting.removeFirst()
        }
    }

    private let capacity: Int
    private let state = Locked(State())

    init(capacity: Int) { self.capacity = capacity }

    /// Adds an update. Does not block.
    func add(_ update: ClusterUpdate) {
        let observer = state.withLock { state -> CheckedContinuation<ClusterUpdate?, Never>? in
            if let observer = state.observer {
                state.observer = nil
                return observer
            }
            if state.waiting.count == capacity {
                // The oldest update may be `subscribed`. After `missed`, too, the observer reads everything again.
                state.waiting.removeFirst()
                state.missed += 1
            }
            state.waiting.append(update)
            return nil
        }
        observer?.resume(returning: update)
    }

    /// Wakes the waiting observer, so that it reads again. Does nothing if no observer is waiting.
    func remind() {
        let observer = state.withLock { state in
            defer { state.observer = nil }
            return state.observer
        }
        observer?.resume(returning: .missed(0))
    }

    /// Takes the next update; nil if the task is cancelled.
    func next() async -> ClusterUpdate? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isNow, next) = state.withLock { state -> (Bool, ClusterUpdate?) in
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
