/// The limit of requests that a host gets at the same time. The limit grows while the host answers as fast as before,
/// and shrinks when the host becomes slower or refuses requests. A plain value.
struct ConnectionLimit {
    /// The limit for a host that has not answered yet.
    static let start = 4
    static let most = 32
    /// The largest number of requests to a host with HTTP/2. A single connection carries them.
    static let mostStreams = 100

    private(set) var current = start
    private var most = Self.most
    /// Whether the limit grows by half each round. This is true until the host becomes slower for the first time.
    private var isStarting = true
    /// The best average time to the first byte, which grows slowly, because the host may change.
    private var best: Duration?
    private var round: (answers: Int, time: Duration, wasFull: Bool) = (0, .zero, false)

    /// - Parameter isMultiplexed: whether the host uses HTTP/2, so that its requests share a connection.
    mutating func use(isMultiplexed: Bool) {
        most = isMultiplexed ? Self.mostStreams : Self.most
        current = min(current, most)
    }

    /// - Parameters:
    ///   - time: the time from the request to the first byte.
    ///   - isFull: whether as many requests as allowed were under way.
    mutating func answered(after time: Duration, isFull: Bool) {
        round.answers += 1
        round.time += time
        round.wasFull = round.wasFull || isFull
        guard round.answers >= current else { return }
        let average = round.time / round.answers
        let wasFull = round.wasFull
        round = (0, .zero, false)
        let best = min(self.best ?? average, average)
        self.best = best + best / 500
        if average > best * 2 + .milliseconds(20) {
            isStarting = false
            current = max(min(Self.start, current), current * 4 / 5)
        } else if wasFull, average < best * 3 / 2 + .milliseconds(20) {
            current = min(most, isStarting ? current * 3 / 2 : current + 1)
        }
    }

    /// Adopts the limit that other workers have found.
    mutating func adopt(_ limit: Int) {
        guard limit != current else { return }
        if limit < current { isStarting = false }
        current = max(1, min(most, limit))
        round = (0, .zero, false)
    }

    mutating func halve() {
        isStarting = false
        current = max(1, current / 2)
        round = (0, .zero, false)
    }
}
