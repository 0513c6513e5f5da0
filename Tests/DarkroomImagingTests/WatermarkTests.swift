import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// The size, the places and the colours of watermarks.
@Suite struct WatermarkTests {
    private static let red = [200, 30, 10]

    /// All pixels differ, and none is red.
    private static func photo(_ width: Int, _ height: Int, bands: Int = 3) -> Pixels {
        Pixels(width: width, height: height, bands: bands) { x, y, band in [x * 20 % 200, y * 30 % 200, 99][band] }
    }

    private static func mark(_ width: Int, _ height: Int, _ colour: [Int] = red) -> [UInt8] {
        PNG.file(Pixels(width: width, height: height, bands: colour.count) { _, _, band in colour[band] })
    }

    private static func apply(_ arguments: String, _ mark: [UInt8], to photo: [UInt8]) throws -> Pixels {
        let filter = Filter.parsed("watermark=image:mark.png,\(arguments)")
        var options = DevelopOptions(filters: [filter], format: .png)
        options.overlays = [filter: mark]
        return try PNG.pixels(of: develop(photo, options).bytes)
    }

    private static func failure(_ mark: [UInt8]) -> ImagingError? {
        #expect(throws: ImagingError.self) { try apply("scale:1", mark, to: PNG.file(photo(12, 8))) }
        do { _ = try apply("scale:1", mark, to: PNG.file(photo(12, 8))) } catch { return error as? ImagingError }
        return nil
    }

    /// The sizes of photo and mark, the arguments, and the box in which the mark must be.
    @Test(arguments: [
        ([12, 8, 4, 2], "margin:0", [9, 6, 3, 2]), ([12, 8, 4, 2], "margin:1,position:northwest", [1, 1, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:north", [4, 1, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:northeast", [8, 1, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:west", [1, 3, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:centre", [4, 3, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:east", [8, 3, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:southwest", [1, 5, 3, 2]),
        ([12, 8, 4, 2], "margin:1,position:south", [4, 5, 3, 2]),
        // A margin of more than half the photo.
        ([12, 8, 4, 2], "margin:5", [4, 3, 3, 2]), ([12, 8, 4, 2], "margin:1000,position:north", [4, 3, 3, 2]),
        // Larger than the photo.
        ([12, 8, 60, 20], "margin:0,scale:0.5,position:northwest", [0, 0, 6, 2]),
        ([12, 8, 60, 20], "margin:0,scale:1,position:south", [0, 4, 12, 4]),
        // At most as high as the photo.
        ([12, 8, 2, 4], "margin:0,scale:1,position:east", [8, 0, 4, 8]),
        ([12, 8, 1, 300], "margin:0,position:west", [0, 0, 1, 8]),
        ([1, 1, 4, 2], "scale:0.01", [0, 0, 1, 1]), ([1, 1, 2, 40], "scale:1", [0, 0, 1, 1]),
        ([1, 9, 9, 1], "scale:1,margin:0", [0, 8, 1, 1]),
    ])
    func markHasItsSizeAndPlace(sizes: [Int], arguments: String, box: [Int]) throws {
        let photo = Self.photo(sizes[0], sizes[1])
        let found = try Self.apply(arguments, Self.mark(sizes[2], sizes[3]), to: PNG.file(photo))
        let expected = Pixels(width: photo.width, height: photo.height, bands: 3) { x, y, band in
            let isInside = (box[0]..<box[0] + box[2]).contains(x) && (box[1]..<box[1] + box[3]).contains(y)
            return isInside ? Self.red[band] : photo[x, y][band]
        }
        #expect(found == expected)
    }

    @Test func tilesCoverThePhoto() throws {
        let photo = Self.photo(12, 8)
        let found = try Self.apply("tile:yes,margin:1", Self.mark(4, 2), to: PNG.file(photo))
        let expected = Pixels(width: 12, height: 8, bands: 3) { x, y, band in
            // Tiles of 3 x 2 pixels with a margin of 1; the last ones are cut off.
            [1, 2, 3, 5, 6, 7, 9, 10, 11].contains(x) && [1, 2, 4, 5, 7].contains(y)
                ? Self.red[band] : photo[x, y][band]
        }
        #expect(found == expected)
        #expect(try Self.apply("tile:yes,margin:9", Self.mark(4, 2), to: PNG.file(photo)) == photo)
    }

    /// A list of all places would need too much memory.
    @Test func placesOfTilesAreNotStored() {
        let huge = PixelSize(width: 1 << 40, height: 1 << 40)
        let tiles = Watermarks.tiles(PixelSize(width: 3, height: 2), over: huge, margin: 1).prefix(2)
        #expect(tiles.map { [$0.x, $0.y] } == [[1, 1], [5, 1]])
    }

    @Test(arguments: [0, 0.25, 0.5, 1]) func opacityMixesTheColours(opacity: Double) throws {
        let photo = Self.photo(12, 8)
        let found = try Self.apply("scale:1,margin:0,opacity:\(opacity)", Self.mark(3, 2), to: PNG.file(photo))
        let expected = photo.values.enumerated().map { i, value in
            Double(value) + opacity * (Double(Self.red[i % 3]) - Double(value))
        }
        #expect(found.distance(to: expected) <= 0.51)
    }

    /// The limit for the picture of a watermark is for its file.
    @Test func markMayBeScaledToMoreThanFourMillionPixels() throws {
        let photo = Pixels(width: 2300, height: 2300, bands: 1, values: Array(repeating: 9, count: 2300 * 2300))
        let found = try Self.apply("scale:1,margin:0", Self.mark(50, 50, [70]), to: PNG.file(photo))
        #expect(found.values.allSatisfy { $0 == 70 })
    }

    @Test func damagedMarkDoesNotCountAsADamagedPhoto() {
        let whole = Self.mark(40, 30)
        for mark in [Array(whole.prefix(60)), Array("text".utf8), Self.mark(2001, 2000)] {
            let error = Self.failure(mark)
            #expect(error?.code == .filterFailed)
            #expect(error?.detail.hasPrefix("watermark=image:mark.png,scale:1: ") == true, "\(error?.detail ?? "")")
        }
    }

    // MARK: - Colours

    @Test func greyMarkKeepsAGreyPhotoGrey() throws {
        let grey = PNG.file(Self.photo(12, 8, bands: 1))
        #expect(try Self.apply("scale:1", Self.mark(3, 2, [200]), to: grey).bands == 1)
        #expect(try Self.apply("scale:1", Self.mark(3, 2, [200, 128]), to: grey).bands == 1)
        #expect(try Self.apply("scale:1", Self.mark(3, 2), to: grey).bands == 3)
        for (text, bands) in [
            ("watermark=text:x", 1), ("watermark=text:x,colour:#777", 1), ("watermark=text:x,colour:red", 3),
        ] {
            #expect(try FilterGridTests.developed(grey, [.parsed(text)]).bands == bands, "\(text)")
        }
    }

    @Test func coloursOfTheMarkAreConvertedToSRGB() throws {
        let colour = [180, 90, 60]
        let mark = PNG.file(
            Pixels(width: 3, height: 2, bands: 3) { _, _, band in colour[band] },
            chunks: [PNG.profile(MatrixProfile.p3)])
        let found = try Self.apply("scale:1,margin:0", mark, to: PNG.file(Self.photo(12, 8)))
        let expected = MatrixProfile.inSRGB(colour)
        #expect(zip(found[5, 4], expected).allSatisfy { abs($0 - $1) <= 1 }, "\(found[5, 4]), \(expected)")
    }

    /// The size of the text is at the end of Pango's description of the font.
    @Test func longNameOfAFontKeepsTheSizeOfTheText() throws {
        let sizes = try [20, 200].map { count -> [Int] in
            let font = String(repeating: "é", count: count)
            let text = try PNG.pixels(of: Imaging.render("Darkroom", font: font, colour: .white))
            return [text.width, text.height]
        }
        #expect(sizes[0] == sizes[1])
    }
}
