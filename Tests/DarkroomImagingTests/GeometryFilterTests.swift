import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// The pixels of `crop`, `trim`, `extend`, `rotate`, `flip`, `flop` and `watermark`.
@Suite struct GeometryFilterTests {
    /// All pixels differ.
    private static let photo = Pixels(width: 12, height: 8, bands: 3) { x, y, band in [x * 20, y * 30, 99][band] }

    private static func apply(_ filter: String, _ pixels: Pixels = photo) throws -> Pixels {
        try FilterGridTests.developed(PNG.file(pixels), [.parsed(filter)])
    }

    private static func failure(_ filter: String, maxPixels: Int = 100_000_000) -> ImagingError? {
        do throws(ImagingError) {
            var options = DevelopOptions(filters: [.parsed(filter)], format: .png)
            options.maxPixels = maxPixels
            _ = try develop(PNG.file(photo), options)
            return nil
        } catch {
            return error
        }
    }

    // MARK: - Crop

    @Test(arguments: [
        ("12x8+0+0", 0, 0, 12, 8), ("3x2+9+6", 9, 6, 3, 2), ("1x1+0+7", 0, 7, 1, 1),
        ("5x4", 4, 2, 5, 4), ("5x4,gravity:northwest", 0, 0, 5, 4), ("5x4,gravity:north", 4, 0, 5, 4),
        ("5x4,gravity:northeast", 7, 0, 5, 4), ("5x4,gravity:east", 7, 2, 5, 4), ("5x4,gravity:southeast", 7, 4, 5, 4),
        ("5x4,gravity:south", 4, 4, 5, 4), ("5x4,gravity:southwest", 0, 4, 5, 4), ("5x4,gravity:west", 0, 2, 5, 4),
        ("5x4,focus:0x0", 0, 0, 5, 4), ("5x4,focus:1x1", 7, 4, 5, 4), ("4x4,focus:50%x75%", 4, 4, 4, 4),
        ("1:1", 2, 0, 8, 8), ("3:1,gravity:south", 0, 4, 12, 4), ("1:8,focus:0x0", 0, 0, 1, 8),
    ])
    func cropKeepsThePixelsOfTheBox(_ text: String, x: Int, y: Int, width: Int, height: Int) throws {
        #expect(try Self.apply("crop=" + text) == Self.photo.part(x, y, width, height))
    }

    @Test(arguments: ["1x1+12+0", "1x1+0+8", "13x1+0+0", "12x8+1+0", "12x9", "13x8", "1x1+65535+65535"])
    func cropOutsideThePhotoFails(_ text: String) {
        let error = Self.failure("crop=" + text)
        #expect(error?.code == .filterFailed)
        #expect(error?.detail.contains("the photo has only 12 x 8 pixels") == true, "\(error?.detail ?? "")")
    }

    @Test(arguments: ["attention", "entropy"]) func interestingPartIsKept(gravity: String) throws {
        // A plain photo with details at the right side.
        let photo = Pixels(width: 120, height: 40, bands: 3) { x, y, band in
            x < 80 ? 128 : (x * 7 + y * 13) % 5 * 50 + (band == 0 ? 50 : 0)
        }
        #expect(try Self.apply("crop=40x40,gravity:\(gravity)", photo).part(5, 5, 30, 30) == photo.part(85, 5, 30, 30))
    }

    // MARK: - Trim

    private static func bordered(_ bands: Int, border: [Int], bits: Int = 8) -> Pixels {
        Pixels(width: 20, height: 15, bands: bands, bits: bits) { x, y, band in
            let isInside = (4..<11).contains(x) && (3..<13).contains(y)
            let isAlpha = bands % 2 == 0 && band == bands - 1
            let value = isInside ? (isAlpha ? 255 : 200 - x - y) : border[band]
            return bits == 16 ? value * 257 : value
        }
    }

    @Test(arguments: [8, 16]) func trimRemovesBordersOfAnyColour(bits: Int) throws {
        let borders = [
            [0], [255], [30, 60, 90], [255, 255, 255], [0, 0, 0, 0], [255, 255, 255, 255], [9, 0], [0, 255],
        ]
        for border in borders {
            let photo = Self.bordered(border.count, border: border, bits: bits)
            #expect(try Self.apply("trim", photo) == photo.part(4, 3, 7, 10), "\(border)")
        }
    }

    /// A line of one pixel is not a border.
    @Test func trimKeepsThinLines() throws {
        let photo = Pixels(width: 9, height: 7, bands: 1) { x, y, _ in x == 6 || (y == 2 && x > 3) ? 90 : 0 }
        #expect(try Self.apply("trim", photo) == photo.part(4, 0, 5, 7))
        #expect(try Self.apply("trim=90", photo) == photo, "a plain photo was trimmed")
        #expect(try Self.apply("trim=0,background:white", photo) == photo)
    }

    @Test func trimUsesTheBackground() throws {
        let photo = Self.bordered(3, border: [255, 0, 0])
        #expect(try Self.apply("trim=background:red", photo) == photo.part(4, 3, 7, 10))
        #expect(try Self.apply("trim=background:blue", photo) == photo)
    }

    @Test(arguments: 1...4) func trimLeavesPlainPhotosAlone(bands: Int) throws {
        for (width, height) in [(1, 1), (2, 1), (1, 9), (8, 6)] {
            let photo = Pixels(width: width, height: height, bands: bands) { _, _, band in 40 + 50 * band }
            #expect(try Self.apply("trim", photo) == photo)
        }
    }

    // MARK: - Extend

    @Test func extendAddsEdges() throws {
        let found = try Self.apply("extend=1,right:4,bottom:2,background:#0a141e")
        #expect((found.width, found.height) == (17, 11))
        #expect(found.part(1, 1, 12, 8) == Self.photo)
        for (x, y) in [(0, 0), (16, 0), (0, 10), (16, 10), (13, 5), (5, 9)] { #expect(found[x, y] == [10, 20, 30]) }
        let ratio = try Self.apply("extend=ratio:3:1,background:#ff000000")
        #expect((ratio.width, ratio.height, ratio.bands) == (24, 8, 4))
        #expect(ratio[0, 0][3] == 0 && ratio[6, 0] == [0, 0, 99, 255] && ratio[17, 7] == Self.photo[11, 7] + [255])
    }

    @Test func extendByBlurShowsThePhotoBehindItself() throws {
        let photo = Pixels(width: 40, height: 20, bands: 3) { x, _, _ in x < 20 ? 50 : 150 }
        let found = try Self.apply("extend=ratio:1:1,background:blur", photo)
        #expect((found.width, found.height) == (40, 40))
        #expect(found[5, 15] == [50, 50, 50] && found[35, 25] == [150, 150, 150])
        for y in [2, 37] { #expect(abs(found[1, y][0] - 50) < 25 && abs(found[38, y][0] - 150) < 25) }
    }

    @Test func extendByBlurAcceptsLongPhotos() throws {
        let photo = Pixels(width: 1, height: 1000, bands: 3) { _, _, _ in 70 }
        let image = try develop(
            PNG.file(photo), "extend=ratio:1:1,background:blur", "format=png", maxPixels: 1_000_000)
        let found = try PNG.pixels(of: image.bytes)
        #expect((found.width, found.height) == (1000, 1000))
        #expect(found.values.allSatisfy { $0 == 70 })
    }

    // MARK: - Rotate, flip, flop

    @Test func quarterTurnsAndMirrorsAreExact() throws {
        let photo = Self.photo
        let turned = Pixels(width: 8, height: 12, bands: 3) { x, y, band in photo[y, 7 - x][band] }
        let half = Pixels(width: 12, height: 8, bands: 3) { x, y, band in photo[11 - x, 7 - y][band] }
        let back = Pixels(width: 8, height: 12, bands: 3) { x, y, band in photo[11 - y, x][band] }
        for (angle, expected) in [
            (0, photo), (90, turned), (-270, turned), (180, half), (-180, half), (270, back), (-90, back), (360, photo),
        ] { #expect(try Self.apply("rotate=\(angle)") == expected, "\(angle)") }
        #expect(try Self.apply("flip") == Pixels(width: 12, height: 8, bands: 3) { photo[$0, 7 - $1][$2] })
        #expect(try Self.apply("flop") == Pixels(width: 12, height: 8, bands: 3) { photo[11 - $0, $1][$2] })
    }

    @Test(arguments: ["#ff0000", "#ff000000", "#ff000080"]) func rotationHasTheBackgroundInItsCorners(
        colour: String
    ) throws {
        let plain = Pixels(width: 41, height: 41, bands: 3) { _, _, _ in 100 }
        let found = try Self.apply("rotate=45,background:\(colour)", plain)
        #expect(abs(found.width - 58) <= 1 && found.width == found.height)
        let alpha = colour.count == 7 ? [] : [colour.hasSuffix("00") ? 0 : 128]
        let corner = found[1, 1]
        #expect(corner.suffix(alpha.count) == alpha[...] && (alpha == [0] || corner[0] == 255))
        let middle = found.width / 2
        #expect(found[middle, middle] == [100, 100, 100] + alpha.map { _ in 255 })
        // At the edge, a transparent background must not change the colour.
        if alpha == [0] {
            let edge = (0..<found.width).map { found[$0, 15] }.filter { $0[3] > 20 }
            #expect(edge.allSatisfy { abs($0[0] - 100) <= 2 }, "\(edge)")
        }
    }

    @Test func rotationIsClockwise() throws {
        let photo = Pixels(width: 60, height: 60, bands: 1) { x, y, _ in y < 20 && (20..<40).contains(x) ? 255 : 0 }
        let found = try Self.apply("rotate=45", photo)
        // The mark at the top moves to the top right.
        #expect(found[found.width * 3 / 4, found.height / 4][0] > 200)
        #expect(found[found.width / 4, found.height / 4][0] < 50)
    }

    // MARK: - Resize

    @Test func transparentBackgroundOfContainIsFlattened() throws {
        let options = DevelopOptions(
            filters: [.parsed("resize=96x32,contain,background:transparent")], format: .jpeg, quality: 100)
        let found = try pixelsByStrips(develop(PNG.file(Self.photo), options).bytes, [])
        #expect((found.width, found.height) == (96, 32))
        #expect(found[2, 2].allSatisfy { $0 > 252 } && found[48, 4][1] < 40)
    }

    // MARK: - Limits

    /// The same error as for a photo with too many pixels, before the pixels are computed.
    @Test(arguments: [
        "resize=60000x60000", "extend=30000", "extend=ratio:1000:1,background:blur", "extend=60000,background:blur",
    ])
    func filterThatMakesTooManyPixelsIsRefused(_ text: String) {
        let started = ContinuousClock.now
        let error = Self.failure(text, maxPixels: 10_000)
        #expect(error?.code == .tooManyPixels)
        #expect(error?.detail.contains("a filter would make") == true, "\(error?.detail ?? "")")
        #expect(ContinuousClock.now - started < .seconds(20))
    }

    @Test func rotationThatMakesTooManyPixelsIsRefused() {
        #expect(Self.failure("rotate=45", maxPixels: 100)?.code == .tooManyPixels)
    }
}
