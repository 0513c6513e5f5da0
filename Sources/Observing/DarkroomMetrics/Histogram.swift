/// The distribution of observed values: the number of values in each bucket, the sum of the values, and the number of
/// all values. The owner of a histogram protects it with a lock.
package struct Histogram: Sendable, Equatable {
    /// The upper bounds of the buckets, in ascending order. The histogram adds a last bucket without a bound.
    package let bounds: [Double]
    /// The number of observations in each bucket, including the last bucket without a bound.
    package private(set) var counts: [Int]
    /// The sum of the observed values.
    package private(set) var sum = 0.0

    /// - Parameter bounds: the upper bounds of the buckets, in ascending order. All must be finite.
    package init(_ bounds: [Double]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<) && bounds.allSatisfy(\.isFinite))
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// The number of observations.
    package var count: Int { counts.reduce(0, +) }

    package mutating func observe(_ value: Double) {
        // A value that equals a bound is in the bucket of this bound.
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// Observes a duration in seconds.
    package mutating func observe(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        observe(Double(seconds) + Double(attoseconds) / 1e18)
    }
}
