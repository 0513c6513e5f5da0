import DarkroomConcurrency

/// The last overview of the hosts. The thread of an engine publishes it when another thread asks for it, at most once a
/// second, so that readers never wait for that thread.
final class HostBoard: Sendable {
    private struct State {
        var overview = HostOverview()
        /// When the overview was asked for last; nil if never.
        var asked: ContinuousClock.Instant?
    }

    private static let interval = Duration.seconds(1)

    private let state = Locked(State())

    /// Returns the last overview. If the last request for a newer one is at least a second old, calls `ask`, which requests
    /// it from the engine.
    func read(_ now: ContinuousClock.Instant = .now, ask: () -> Void) -> HostOverview {
        let (overview, isDue) = state.withLock { state in
            let isDue = state.asked.map { now - $0 >= Self.interval } ?? true
            if isDue { state.asked = now }
            return (state.overview, isDue)
        }
        if isDue { ask() }
        return overview
    }

    func publish(_ overview: HostOverview) { state.withLock { $0.overview = overview } }
}
