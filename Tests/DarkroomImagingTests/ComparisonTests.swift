import DarkroomTestSupport
import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// The photo and the developed photo side by side.
@Suite struct ComparisonTests {
    @Test(arguments: [
        ((640, 427), (640, 427), (640, 427), (640, 427), 4), ((640, 427), (100, 67), (100, 67), (100, 67), 2),
        ((100, 50), (50, 100), (100, 50), (25, 50), 2), ((1, 1), (7, 5), (1, 1), (1, 1), 2),
    ]) func bothHaveTheHeightOfTheSmaller(
        before: (Int, Int), after: (Int, Int), left: (Int, Int), right: (Int, Int), gap: Int
    ) {
        let layout = ComparisonLayout(
            PixelSize(width: before.0, height: before.1), PixelSize(width: after.0, height: after.1),
            longestSide: 16_000)
        #expect(layout.left == PixelSize(width: left.0, height: left.1))
        #expect(layout.right == PixelSize(width: right.0, height: right.1))
        #expect(layout.gap == gap)
    }

    @Test(arguments: [(20_000, 100), (100, 60_000), (9000, 9000), (16_000, 1)])
    func largePhotosBecomeSmaller(width: Int, height: Int) {
        let size = PixelSize(width: width, height: height)
        let layout = ComparisonLayout(size, size, longestSide: 16_000)
        #expect(layout.width <= 16_000 && layout.left.height <= 16_000)
        #expect(max(layout.width, layout.left.height) > 7900, "it need not be this small")
    }

    @Test func photoIsOnTheLeft() throws {
        let photo = try TestFiles.sample("flower.jpg")
        let filters = try [PhotoFilter](parsing: "grayscale flop").builtIn
        let developed = try develop(photo, DevelopOptions(filters: filters, format: .png))
        let comparison = try compared(photo, developed, damage: .tolerate)
        #expect(comparison.format == .png && comparison.width == 640 + 4 + 640 && comparison.height == 427)
        let pixels = try PNG.pixels(of: comparison.bytes)
        let before = try pixelsByVips(photo, [])
        let after = try PNG.pixels(of: developed.bytes)
        for (x, y) in [(0, 0), (639, 426), (320, 200), (17, 400)] {
            #expect(pixels[x, y] == before[x, y])
            #expect(pixels[644 + x, y] == after[x, y])
        }
        #expect((640..<644).allSatisfy { pixels[$0, 213] == [255, 255, 255] })
    }

    /// One side has 16 bits and alpha, the other 8 bits without alpha.
    @Test func sidesOfDifferentKindsFitTogether() throws {
        let wide = Pixels(width: 60, height: 40, bands: 4, bits: 16) { _, _, band in band == 3 ? 65_535 : 40_000 }
        let photo = PNG.file(wide)
        let developed = try develop(photo, DevelopOptions(filters: [Filter.parsed("rotate=90")], format: .jpeg))
        let comparison = try compared(photo, developed, damage: .tolerate)
        #expect(comparison.format == .jpeg && comparison.width == 60 + 2 + 27 && comparison.height == 40)
    }
}
