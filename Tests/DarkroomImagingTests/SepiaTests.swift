import CImaging
import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct SepiaTests {
    /// Pixels, and their results for sepia=0.8 and sepia=1, computed by hand.
    static let table: [(input: [Int], most: [Int], full: [Int])] = [
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
        ([255, 255, 255], [255, 255, 242], [255, 255, 239]),
        ([128, 128, 128], [164, 149, 122], [173, 154, 120]),
        ([255, 0, 0], [131, 71, 55], [100, 89, 69]),
        ([0, 255, 0], [157, 191, 109], [196, 175, 136]),
        ([0, 0, 255], [39, 34, 78], [48, 43, 33]),
        ([64, 128, 192], [141, 140, 127], [160, 142, 111]),
        ([200, 100, 50], [172, 137, 101], [165, 147, 114]),
    ]

    /// The expected bands in integers, rounded to the nearest, halves up: `input` times a matrix, which is the sepia
    /// matrix times `intensity` plus the identity times `1 - intensity`.
    static func expected(_ input: [Int], thousandths intensity: Int, top: Int = 255) -> [Int] {
        let full = [[393, 769, 189], [349, 686, 168], [272, 534, 131]]
        return (0..<3).map { row in
            let sum = (0..<3).reduce(0) { sum, column in
                let identity = row == column ? 1000 * (1000 - intensity) : 0
                return sum + input[column] * (full[row][column] * intensity + identity)
            }
            return min((sum + 500_000) / 1_000_000, top)
        }
    }

    @Test(arguments: [3, 4]) func matchesTheTable(bands: Int) throws {
        let input = Pixels(width: Self.table.count, height: 1, bands: bands) { x, _, band in
            band < 3 ? Self.table[x].input[band] : 10 + x
        }
        for (intensity, column) in [(0.8, \(input: [Int], most: [Int], full: [Int]).most), (1.0, \.full)] {
            let filters = [Filter.sepia(intensity: intensity)]
            let output = try PNG.pixels(of: develop(PNG.file(input), DevelopOptions(filters: filters)).bytes)
            for (x, row) in Self.table.enumerated() {
                #expect(output[x, 0] == row[keyPath: column] + (bands == 4 ? [10 + x] : []))
            }
        }
    }

    @Test(arguments: [800, 1000, 100, 700, 0], [3, 4]) func isExactForEveryColour(thousandths: Int, bands: Int) {
        // Every fifth level from 0 to 255: 140,608 colours.
        let levels = Array(stride(from: 0, through: 255, by: 5))
        var pixels: [UInt8] = []
        for r in levels {
            for g in levels {
                for b in levels {
                    pixels += [UInt8(r), UInt8(g), UInt8(b)]
                    if bands == 4 { pixels.append(77) }
                }
            }
        }
        let input = pixels
        var point = Filter.sepia(intensity: Double(thousandths) / 1000).point!  // sepia is a point
        darkroom_points_apply(&point, 1, &pixels, pixels.count / bands, Int32(bands), false)
        var wrong = 0
        for start in stride(from: 0, to: input.count, by: bands) {
            let colour = input[start..<start + 3].map(Int.init)
            let expected = Self.expected(colour, thousandths: thousandths) + (bands == 4 ? [77] : [])
            if pixels[start..<start + bands].map(Int.init) != expected { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func sixteenBitsAreRoundedInSixteenBits() throws {
        let input = Pixels.gradient(width: 64, height: 32, bits: 16)
        let output = try PNG.pixels(of: develop(PNG.file(input)).bytes)
        #expect(output.bits == 16)
        for (x, y) in [(0, 0), (63, 31), (20, 7), (50, 30)] {
            #expect(output[x, y] == Self.expected(input[x, y], thousandths: 800, top: 65535))
        }
    }

    @Test func sixteenBitsAreRoundedToEightBits() throws {
        let input = Pixels.gradient(width: 256, height: 8, bits: 16)
        let options = DevelopOptions(filters: [.sepia(intensity: 0)], format: .gif)
        #expect(try develop(PNG.file(input), options).format == .gif)
        let jpeg = try develop(PNG.file(input), DevelopOptions(filters: [], format: .jpeg, quality: 100))
        let read = try pixelsByStrips(jpeg.bytes, [])
        for x in 0..<256 { #expect(abs(read[x, 4][0] - (input[x, 4][0] + 128) / 257) <= 3) }
    }

    @Test(arguments: [1, 2]) func greyBecomesColour(bands: Int) throws {
        let input = Pixels(width: 256, height: 2, bands: bands) { x, _, band in band == 0 ? x : 200 }
        let output = try PNG.pixels(of: develop(PNG.file(input)).bytes)
        #expect(output.bands == bands + 2)
        for x in 0..<256 {
            #expect(output[x, 1] == Self.expected([x, x, x], thousandths: 800) + (bands == 2 ? [200] : []))
        }
    }

    @Test func emptyChainChangesNothing() throws {
        let input = Pixels.gradient(width: 40, height: 30, bands: 4)
        let output = try PNG.pixels(of: develop(PNG.file(input), DevelopOptions(filters: [])).bytes)
        #expect(output == input)
    }

    @Test(.enabled(if: Samples.hasKodak, "the Kodak suite is not at ../shared/photos/kodak"))
    func isExactOnPhotos() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Samples.kodak, includingPropertiesForKeys: nil)
        for file in files.sorted(by: { $0.path < $1.path }).prefix(3) {
            let bytes = Array(try Data(contentsOf: file))
            let input = try PNG.pixels(of: bytes)
            let output = try PNG.pixels(of: develop(bytes).bytes)
            var wrong = 0
            for place in stride(from: 0, to: input.values.count, by: 3) {
                let colour = input.values[place..<place + 3].map(Int.init)
                let found = output.values[place..<place + 3].map(Int.init)
                if found != Self.expected(colour, thousandths: 800) { wrong += 1 }
            }
            #expect(wrong == 0, "\(file.lastPathComponent)")
        }
    }
}
