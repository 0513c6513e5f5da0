/// The growth rate of a count over the last 10 s.
struct RateMeter {
    private static let span = Duration.seconds(10)

    private var samples: [(time: ContinuousClock.Instant, count: Int)] = []

    mutating func add(_ count: Int, at time: ContinuousClock.Instant = .now) {
        samples.append((time, count))
        // Keeps one sample that is at least 10 s old, so that the samples cover the last 10 s.
        while samples.count > 2, samples[1].time + Self.span <= time { samples.removeFirst() }
    }

    /// The growth per second; nil if the samples cover less than 0.5 s.
    var perSecond: Double? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let seconds = (last.time - first.time) / .seconds(1)
        return seconds < 0.5 ? nil : Double(last.count - first.count) / seconds
    }
}
