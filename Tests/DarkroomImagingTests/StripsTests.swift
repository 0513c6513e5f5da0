import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct StripsTests {
    private static func bands(_ kind: JPEG.Kind) -> Int { kind == .grey ? 1 : kind == .cmyk ? 4 : 3 }

    static let kindsButCMYK = JPEG.Kind.allCases.filter { $0 != .cmyk }

    @Test(arguments: kindsButCMYK, [(1, 1), (17, 33), (640, 427)])
    func stripsAgreeWithLibvips(kind: JPEG.Kind, size: (Int, Int)) throws {
        let pixels = Pixels.gradient(width: size.0, height: size.1, bands: Self.bands(kind))
        let file = JPEG.file(pixels, kind)
        for filters in [[Filter.sepia(intensity: 0.8)], [.sepia(intensity: 1), .sepia(intensity: 0.3)]] {
            let distance = try pixelsByStrips(file, filters).distance(to: pixelsByVips(file, filters))
            #expect(try #require(distance) <= 1)
        }
    }

    @Test(arguments: Samples.jpegs) func stripsAgreeWithLibvipsOnPhotos(name: String) throws {
        let file = try Samples.sample(name)
        let distance = try pixelsByStrips(file, [.standard]).distance(to: pixelsByVips(file, [.standard]))
        #expect(try #require(distance) <= 1)
    }

    @Test(arguments: Samples.jpegs) func stripsWriteTheSameFileAsLibvips(name: String) throws {
        let options = DevelopOptions(strip: true)
        let file = try Samples.sample(name)
        let (strips, vips) = (try develop(file, options), try develop(file, options, by: .withoutStrips))
        #expect((strips.width, strips.height) == (vips.width, vips.height))
        // Equal pixels, quality and subsampling give equal scans; headers may differ.
        #expect(strips.bytes.suffix(2000) == vips.bytes.suffix(2000))
        #expect(abs(strips.byteCount - vips.byteCount) < 200)
    }

    @Test(arguments: [89, 90]) func subsamplingDependsOnQualityAsInLibvips(quality: Int) throws {
        let file = try Samples.sample("coffee.jpg")
        let options = DevelopOptions(quality: quality, strip: true)
        let (strips, vips) = (try develop(file, options), try develop(file, options, by: .withoutStrips))
        #expect(strips.bytes.suffix(2000) == vips.bytes.suffix(2000))
    }

    @Test func outputBufferGrowsIfTheFileIsLargerThanExpected() throws {
        var state: UInt32 = 1
        let noise = Pixels(width: 300, height: 200, bands: 3) { _, _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 24)
        }
        let file = JPEG.file(noise, .fullColour, quality: 5)
        let developed = try develop(file, DevelopOptions(filters: [.sepia(intensity: 0)], quality: 100))
        let again = try develop(developed.bytes)
        #expect((again.width, again.height) == (300, 200))
        #expect(developed.byteCount > file.count + 300 * 200 / 3 + 4096)
    }
}
