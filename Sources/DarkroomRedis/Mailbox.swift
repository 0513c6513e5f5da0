import DarkroomConcurrency

/// What any thread leaves for the thread that owns a connection, which sleeps here.
final class Mailbox: Sendable {
    private struct State {
        var calls: [RedisCall] = []
        var closed = false
        /// Whether the server may have been replaced.
        var noticed = false
        /// Whether the owner sleeps (or is about to) and has to be woken.
        var sleeping = false
    }

    private let state = Locked(State())
    private let wakeup = Wakeup()

    /// Leaves a call; false when the mailbox is closed.
    func post(_ call: RedisCall) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard !state.closed else { return (false, false) }
            state.calls.append(call)
            defer { state.sleeping = false }
            return (true, state.sleeping)
        }
        if wake { wakeup.signal() }
        return accepted
    }

    /// From now on nothing is accepted.
    func close() {
        state.withLock { $0.closed = true }
        wakeup.signal()
    }

    /// Tells the owner to find out whether its server is still the one to talk to.
    func notice() {
        state.withLock { $0.noticed = true }
        wakeup.signal()
    }

    /// Whether there was a notice since the last time.
    func takeNotice() -> Bool {
        state.withLock { state in
            defer { state.noticed = false }
            return state.noticed
        }
    }

    /// What was left since the last time, in order; and whether the mailbox is still open.
    func take() -> (calls: [RedisCall], open: Bool) {
        state.withLock { state in
            defer { state.calls = [] }
            return (state.calls, !state.closed)
        }
    }

    /// Waits until `socket` is ready for `events`, something is left here, the mailbox is closed, or `deadline` passes.
    func sleep(until deadline: ContinuousClock.Instant? = nil, socket: Int32 = -1, events: Int16 = 0) {
        let mustSleep = state.withLock { state in
            state.sleeping = state.calls.isEmpty && !state.closed && !state.noticed
            return state.sleeping
        }
        guard mustSleep else { return }
        wakeup.wait(for: socket, events: events, until: deadline)
        state.withLock { $0.sleeping = false }
    }
}
