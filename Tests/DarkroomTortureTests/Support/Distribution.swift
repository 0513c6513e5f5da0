/// Measured durations, and their text in a report.
struct Distribution {
    private var values: [Duration] = []

    /// The number of durations.
    var count: Int { values.count }

    mutating func add(_ value: Duration) { values.append(value) }

    mutating func add(_ values: [Duration]) { self.values += values }

    /// The percentile of the durations (nearest rank), or nil if there are none.
    func percentile(_ percent: Double) -> Duration? {
        guard !values.isEmpty else { return nil }
        let rank = Int((percent / 100 * Double(values.count)).rounded(.up))
        return values.sorted()[max(1, rank) - 1]
    }

    /// `median 4.21 s, p99 7.10 s, max 7.92 s of 88`.
    var text: String {
        guard let median = percentile(50), let p99 = percentile(99), let max = values.max() else { return "none" }
        return "median \(Self.text(median)), p99 \(Self.text(p99)), max \(Self.text(max)) of \(count)"
    }

    private static func text(_ duration: Duration) -> String {
        let milliseconds = Double(duration.components.seconds) * 1000 + Double(duration.components.attoseconds) / 1e15
        if milliseconds < 1000 { return "\((milliseconds * 10).rounded() / 10) ms" }
        return "\((milliseconds / 10).rounded() / 100) s"
    }
}
