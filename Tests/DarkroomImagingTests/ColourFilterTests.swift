import DarkroomTestSupport
import DarkroomRecipes
import Foundation
import FuzzSupport
import Testing

@testable import DarkroomImaging

/// The colour filters, compared with ``ColourReference`` on photos.
@Suite struct ColourFilterTests {
    /// Each filter without effect, with its full effect and between, and with large arguments.
    static let filters = [
        "sepia=0", "sepia=0.35", "sepia=1", "grayscale=0", "grayscale=0.4", "grayscale=1", "saturate=0", "saturate=0.6",
        "saturate=3", "saturate=100", "hue-rotate=0", "hue-rotate=37", "hue-rotate=90", "hue-rotate=-200",
        "hue-rotate=3600", "invert=0", "invert=0.3", "invert=0.5", "invert=1", "brightness=0", "brightness=0.7",
        "brightness=1.9", "brightness=100", "contrast=0", "contrast=0.5", "contrast=2.5", "contrast=100", "gamma=0.1",
        "gamma=0.45", "gamma=1", "gamma=2.2", "gamma=10", "tint=#ffa500,0.5", "tint=#4080ff", "tint=#123456,0",
        "duotone=#000080,#ffe0a0", "duotone=#ff0000,#00ff00", "normalize", "normalize=0,100", "normalize=20,60",
        "normalize=50,51", "matrix=0,0,1,0,1,0,1,0,0", "matrix=0.5,0.2,-0.3,0.1,0,1.2,0,-0.2,0.3,0.3,0.3,0.05",
        "matrix=100,0,0,-10,0,-100,0,100,0,0,3,-1",
    ]

    /// Parts of the lossless photos; parts of samples if those are not installed.
    static func photos(bits: Int) throws -> [Pixels] {
        let files =
            try Samples.hasKodak
            ? FileManager.default.contentsOfDirectory(at: Samples.kodak, includingPropertiesForKeys: nil)
                .sorted { $0.path < $1.path }.map { Array(try Data(contentsOf: $0)) }
            : ["flower.jpg", "moon.png", "coffee.jpg"].map(TestFiles.sample)
        return try files.prefix(4).map { file in
            let options = DevelopOptions(filters: [.parsed("crop=96x64+200+150")], format: .png)
            let part = try PNG.pixels(of: develop(file, options).bytes)
            guard bits == 16 else { return part }
            // All 16 bits have different values.
            let values = part.values.enumerated().map { UInt16(min(Int($1) * 257 + $0 * 31 % 257, 65535)) }
            return Pixels(width: 96, height: 64, bands: part.bands, bits: 16, values: values)
        }
    }

    /// The levels are those of the values before they are rounded. Rounded values were up to 3 steps away.
    @Test(
        arguments: [
            ["contrast=0.2", "normalize=0,100"], ["brightness=0.1", "normalize"], ["gamma=0.2", "normalize=2,98"],
            ["duotone=#101010,#181410", "normalize=5,95"],
            ["contrast=0.1", "normalize=1,99", "sepia=0.5", "normalize"],
        ], [8, 16])
    func levelsAreMeasuredWithoutRounding(filters: [String], bits: Int) throws {
        for photo in try Self.photos(bits: bits) {
            #expect(try Self.distance(filters, on: photo) < (bits == 16 ? 1.1 : 0.51), "\(filters)")
        }
    }

    /// The largest distance between the filtered photo and the reference, in steps of the samples.
    static func distance(_ filters: [String], on photo: Pixels) throws -> Double {
        let options = DevelopOptions(filters: filters.map(Filter.parsed))
        let output = try PNG.pixels(of: develop(PNG.file(photo), options).bytes)
        #expect((output.width, output.height, output.bits) == (photo.width, photo.height, photo.bits))
        var reference = ColourReference(photo)
        reference.apply(filters)
        return reference.distance(to: output)
    }

    static func randomFilter(_ generator: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> String {
            String(Double(generator.number(in: range.lowerBound..<range.upperBound + 1)) / 1000)
        }
        func colour() -> String {
            let digits = String(generator.number(in: 0..<0x100_0000), radix: 16)
            return "#" + String(repeating: "0", count: 6 - digits.count) + digits
        }
        let name = generator.pick(FilterDefinition.colourNames)
        switch name {
        case "sepia", "grayscale", "invert": return "\(name)=\(number(0...1000))"
        case "saturate", "brightness", "contrast": return "\(name)=\(number(200...2500))"
        case "hue-rotate": return "\(name)=\(generator.number(in: -360..<361))"
        case "gamma": return "\(name)=\(number(400...2500))"
        case "tint": return "\(name)=\(colour()),\(number(0...1000))"
        case "duotone": return "\(name)=\(colour()),\(colour())"
        case "normalize": return "\(name)=\(generator.number(in: 0..<6)),\(generator.number(in: 94..<101))"
        default:
            let rows = (0..<9).map { number($0 % 4 == 0 ? 500...1500 : -500...500) }
            return "\(name)=\(rows.joined(separator: ","))"
        }
    }

    @Test func everyColourFilterHasAReference() {
        let tested = Set(Self.filters.map { String($0.prefix { $0 != "=" }) })
        #expect(tested == Set(FilterDefinition.colourNames))
    }

    /// At most 1 step of 255 and 2 of 65,535 are allowed. One rounding gives a distance of 0.5.
    @Test(arguments: [8, 16]) func filtersMatchTheReference(bits: Int) throws {
        let photos = try Self.photos(bits: bits)
        for filter in Self.filters {
            for photo in photos {
                let distance = try Self.distance([filter], on: photo)
                // Levels that are close to each other magnify the rounding of the luminances to 24 bits.
                let limit = bits == 16 && filter == "normalize=50,51" ? 2 : 0.51
                #expect(distance <= limit, "\(filter)")
            }
        }
    }

    @Test(arguments: [8, 16]) func chainsOfFiveMatchTheReference(bits: Int) throws {
        var generator = SeededGenerator(seed: UInt64(bits))
        let photos = try Self.photos(bits: bits)
        for number in 0..<60 {
            let chain = (0..<5).map { _ in Self.randomFilter(&generator) }
            let distance = try Self.distance(chain, on: photos[number % photos.count])
            #expect(distance <= 1, "\(chain)")
        }
    }

    @Test func stripsMatchTheReference() throws {
        var generator = SeededGenerator(seed: 3)
        let points = Self.filters.filter { !$0.hasPrefix("normalize") }
        for photo in try Self.photos(bits: 8) {
            let file = JPEG.file(photo, photo.bands == 1 ? .grey : .baseline)
            let decoded = try pixelsByStrips(file, [])
            let chains = (0..<20).map { _ in (0..<5).map { _ in Self.randomFilter(&generator) } }
            for filters in points.map({ [$0] }) + chains.filter({ !$0.joined().contains("normalize") }) {
                var reference = ColourReference(decoded)
                reference.apply(filters)
                let distance = reference.distance(to: try pixelsByStrips(file, filters.map(Filter.parsed)))
                #expect(distance <= 1, "\(filters)")
            }
        }
    }

    /// Rounding between the filters would leave only three levels.
    @Test func chainsAreOnePass() throws {
        let input = Pixels(width: 256, height: 1, bands: 3) { x, _, _ in x }
        let chain = ["brightness=1%", "invert", "invert", "brightness=100"].map(Filter.parsed)
        #expect(try pixelsByVips(PNG.file(input), chain).distance(to: input) == 0)
        let photo = JPEG.file(Pixels.gradient(width: 64, height: 48), .baseline)
        let distance = try pixelsByStrips(photo, chain).distance(to: pixelsByStrips(photo, []))
        #expect(distance == 0)
    }
}

extension FilterDefinition {
    fileprivate static let colourNames = Filter.Kind.allCases.map(\.definition)
        .filter { $0.group == .colour }.map(\.name)
}
