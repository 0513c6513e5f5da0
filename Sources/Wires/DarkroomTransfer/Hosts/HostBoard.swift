import DarkroomConcurrency

/// The last overview of the hosts. When another thread reads the overview, the thread of the engine is asked to publish
/// a newer one, at most once a second. Readers never wait for the thread of the engine.
final class HostBoard: Sendable {
    private struct State {
        var overview = HostOverview()
        /// The time at which a newer overview was last requested; nil if never.
        var asked: ContinuousClock.Instant?
    }

    private static let interval = Duration.seconds(1)

    private let state = Locked(State())

    /// Returns the last overview. If the last request for a newer overview is at least a second old, calls `ask`, which
    /// requests one from the engine.
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
