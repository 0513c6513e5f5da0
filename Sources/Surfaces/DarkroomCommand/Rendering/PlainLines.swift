/// Decides when the progress is printed to a pipe or a file.
struct PlainLines {
    /// The shortest time between two lines.
    private static let linesEvery = Duration.seconds(5)
    /// The longest time without a line. The regular lines show that the command is still running, for example to a
    /// build server that ends silent commands.
    private static let linesWithoutChangeEvery = Duration.seconds(300)

    private var printed: [String]?
    private var last: ContinuousClock.Instant

    /// - Parameter start: The time at which the command has started.
    init(from start: ContinuousClock.Instant = .now) { last = start }

    /// Whether a line with these counts is due. If it is, the caller prints it.
    mutating func isDue(_ counts: [String], at time: ContinuousClock.Instant = .now) -> Bool {
        guard time >= last + (counts == printed ? Self.linesWithoutChangeEvery : Self.linesEvery) else { return false }
        printed = counts
        last = time
        return true
    }
}
