internal import Glibc

/// Finds the highest quality whose file fits into a limit, in few encodings. Assumes that a higher quality never gives a
/// smaller file.
///
/// The logarithm of the size is nearly linear in the quality, so the first guesses interpolate the logarithm; bisection
/// follows. With photos, five encodings are typical, and twelve is the maximum.
struct QualitySearch {
    /// In bytes.
    let limit: Int
    /// The highest quality known to fit; 0 if none is known.
    private(set) var fits = 0
    /// The lowest quality known to give a file that is too large.
    private(set) var tooHigh: Int
    /// The sizes of the files so far, keyed by quality.
    private var sizes: [Int: Int]

    private static let mostInterpolations = 4
    /// The usual slope of the logarithm: files shrink by about 2 % for each step of quality.
    private static let usualSlope = 0.02

    /// - Parameter size: The size at the quality `tooHigh`, above the limit.
    init(limit: Int, tooHigh: Int, size: Int) {
        self.limit = limit
        self.tooHigh = tooHigh
        sizes = [tooHigh: size]
    }

    /// The quality to try next; nil if ``fits`` is the result.
    var next: Int? {
        guard tooHigh - fits > 1 else { return nil }
        guard sizes.count <= Self.mostInterpolations, let crossing else { return (fits + tooHigh) / 2 }
        return Int(min(max(crossing, Double(fits + 1)), Double(tooHigh - 1)))
    }

    /// Records the size of the file of a quality.
    mutating func note(_ size: Int, at quality: Int) {
        sizes[quality] = size
        if size <= limit { fits = quality } else { tooHigh = quality }
    }

    /// The estimated quality at which the size is the limit; nil if the sizes give no estimate.
    private var crossing: Double? {
        // Without a quality that fits, the line goes through the two lowest qualities.
        let other = fits > 0 ? fits : sizes.keys.filter { $0 > tooHigh }.min()
        let slope = other.map { (logarithm($0) - logarithm(tooHigh)) / Double($0 - tooHigh) } ?? Self.usualSlope
        return slope > 0 ? Double(tooHigh) - (logarithm(tooHigh) - log(Double(max(limit, 1)))) / slope : nil
    }

    private func logarithm(_ quality: Int) -> Double { log(Double(max(sizes[quality] ?? 1, 1))) }
}
