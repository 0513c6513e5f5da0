/// How fast a count grows, over the last ten seconds.
struct RateMeter {
    private static let span = Duration.seconds(10)

    private var samples: [(time: ContinuousClock.Instant, count: Int)] = []

    /// Takes what the count is now.
    mutating func add(_ count: Int, at time: ContinuousClock.Instant = .now) {
        samples.append((time, count))
        // One older sample stays, so that the samples span the time.
        while samples.count > 2, samples[1].time + Self.span <= time { samples.removeFirst() }
    }

    /// How much it grows a second; nil before half a second is known.
    var perSecond: Double? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let seconds = (last.time - first.time) / .seconds(1)
        return seconds < 0.5 ? nil : Double(last.count - first.count) / seconds
    }
}
