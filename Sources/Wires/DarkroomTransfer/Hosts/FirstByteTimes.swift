import DarkroomText
import Foundation

/// The times to the first byte of the last requests to a host. The histogram has only 32 bytes, because many hosts are
/// remembered. A plain value.
struct FirstByteTimes {
    /// Bucket 0 counts times below √2 ms. The bounds of each further bucket are √2 times the bounds of the previous
    /// bucket. The last bucket counts all times of 46 s or more.
    private var counts = SIMD32<UInt8>()

    mutating func add(_ time: Duration) {
        let milliseconds = max(1, time / .milliseconds(1))
        let bucket = min(31, Int(2 * log2(milliseconds)))
        // Halves all counts, so that later requests count more than earlier ones.
        if counts[bucket] == .max { counts = counts &>> SIMD32(repeating: 1) }
        counts[bucket] += 1
    }

    /// A time that this proportion of the requests did not exceed, accurate to 20 %; nil without requests.
    func quantile(_ share: Double) -> Duration? {
        let total = (0..<32).reduce(0) { $0 + Int(counts[$1]) }
        guard total > 0 else { return nil }
        let wanted = max(1, Int((Double(total) * share).rounded(.up)))
        var sum = 0
        for bucket in 0..<32 {
            sum += Int(counts[bucket])
            if sum >= wanted { return .milliseconds(exp2((Double(bucket) + 0.5) / 2)) }
        }
        return nil
    }
}
