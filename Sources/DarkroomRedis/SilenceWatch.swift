/// Asks the sentinels, while a server owes an answer, whether another has become the master: one whose machine or network
/// died says nothing, and would be waited for until the reply timeout.
struct SilenceWatch {
    /// When it is to be asked next.
    private(set) var nextCheck = ContinuousClock.now

    private static let interval = Duration.seconds(1)

    /// Asks when the server has been silent for a second, and again every second. Blocks for a moment.
    /// - Throws: an error with the code `disconnected` when there is another master.
    mutating func check(_ session: Session, _ finder: inout ServerFinder) throws(RedisError) {
        nextCheck = max(nextCheck, session.lastProgress + Self.interval)
        guard nextCheck <= .now else { return }
        let successor = finder.successor(of: session.address)
        nextCheck = .now + Self.interval
        guard let successor else { return }
        throw RedisError(
            .disconnected, "talk to the master before \(successor)",
            "it does not answer, and the sentinels have made \(successor) the master; commands in flight may or may not have"
                + " been carried out")
    }
}
