import DarkroomTestSupport
import Glibc
import Testing

@testable import DarkroomImaging

@Suite struct QualitySearchTests {
    /// Sizes by quality, which grow as those of photos, with and without jumps, and in extreme ways.
    private static let curves: [String: @Sendable (Int) -> Int] = [
        "exponential": { Int(5000 * exp(Double($0) * 0.03)) }, "linear": { 1000 + 500 * $0 },
        "steep at the end": { Int(5000 + 80 * Double($0) + exp(Double($0) * 0.12)) },
        "with steps": { 4000 + $0 / 7 * 3000 }, "with a jump": { 5000 + 300 * $0 + ($0 >= 77 ? 20_000 : 0) },
        "constant": { _ in 7000 }, "empty": { $0 > 50 ? 1_000_000 : 0 },
    ]

    @Test(arguments: curves.keys.sorted(), [100, 85, 40, 2, 1]) func findsTheHighestQualityThatFits(
        curve: String, highest: Int
    ) throws {
        let size = try #require(Self.curves[curve])
        var counts: [Int] = []
        for limit in stride(from: size(1) - 10, to: size(highest), by: max(1, size(highest) / 97)) {
            var search = QualitySearch(limit: limit, tooHigh: highest, size: size(highest))
            var count = 1
            while let quality = search.next {
                #expect((1..<highest).contains(quality))
                search.note(size(quality), at: quality)
                count += 1
                guard count < 20 else { break }
            }
            #expect(search.fits == (1..<highest).last { size($0) <= limit } ?? 0, "limit \(limit)")
            counts.append(count)
        }
        counts.sort()
        #expect(counts.last ?? 0 <= 12, "\(counts)")
        if ["exponential", "linear"].contains(curve), !counts.isEmpty {
            #expect(counts[counts.count / 2] <= 6, "\(counts)")
        }
    }

    @Test func fiveEncodingsAreTypicalForPhotos() throws {
        let photo = try TestFiles.sample("china.jpg")
        let sizes = try (1...85).map { try develop(photo, "resize=300x", "quality=\($0)").byteCount }
        var counts: [Int] = []
        for limit in stride(from: sizes[10], to: sizes[84], by: sizes[84] / 60) {
            var search = QualitySearch(limit: limit, tooHigh: 85, size: sizes[84])
            counts.append(1)
            while let quality = search.next {
                search.note(sizes[quality - 1], at: quality)
                counts[counts.count - 1] += 1
            }
        }
        let mean = Double(counts.reduce(0, +)) / Double(counts.count)
        #expect(mean <= 6, "\(counts)")
    }
}
