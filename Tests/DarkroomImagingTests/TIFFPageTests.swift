import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// Which page of a TIFF is developed.
@Suite struct TIFFPageTests {
    private static let red: [UInt8] = [200, 30, 30]
    private static let green: [UInt8] = [30, 200, 30]

    private static func small(_ tags: [Int: TIFFPage.Value]) -> TIFFPage {
        TIFFPage(width: 16, height: 12, colour: red, tags: tags)
    }

    private static func page(_ width: Int, _ height: Int, _ tags: [Int: TIFFPage.Value] = [:]) -> TIFFPage {
        TIFFPage(width: width, height: height, colour: green, tags: tags)
    }

    private static let reduced: [Int: TIFFPage.Value] = [254: .long([1])]

    private static func with(_ page: TIFFPage, _ subIFDs: [TIFFPage]) -> TIFFPage {
        var page = page
        page.subIFDs = subIFDs
        return page
    }

    /// Files whose picture is green and has 40 x 30 pixels.
    private static let files: [(String, [TIFFPage])] = [
        ("second page", [small(reduced), page(40, 30)]),
        ("old tag", [small([255: .short([2])]), page(40, 30, [255: .short([1])])]),
        ("SubIFD", [with(small(reduced), [page(40, 30, [254: .long([0])])])]),
        ("second SubIFD", [with(small(reduced), [page(20, 15, reduced), page(40, 30)])]),
        ("SubIFD of the second page", [small(reduced), with(page(8, 6, reduced), [page(40, 30)])]),
        ("page behind a mask", [small(reduced), page(50, 50, [254: .long([4])]), page(40, 30)]),
        ("first of several pages", [small(reduced), page(40, 30, [254: .long([2])]), page(90, 90, [254: .long([2])])]),
        ("only reduced pages", [small(reduced), page(40, 30, reduced)]),
        ("pyramid", [page(40, 30), small(reduced)]),
        ("pyramid of SubIFDs", [with(page(40, 30), [small(reduced)])]),
        ("pages", [page(40, 30), TIFFPage(width: 99, height: 99, colour: red)]),
    ]

    @Test(arguments: [false, true], [false, true]) func fullPageIsDeveloped(bigEndian: Bool, isBigTIFF: Bool) throws {
        for (name, pages) in Self.files {
            let file = TIFFPage.file(pages, bigEndian: bigEndian, isBigTIFF: isBigTIFF)
            for (chain, width) in [("none", 40), ("sepia=0", 40), ("resize=20x", 20)] {
                let image = try develop(file, chain, "format=png")
                #expect((image.width, image.height) == (width, width * 3 / 4), "\(name), \(chain)")
                let pixels = try PNG.pixels(of: image.bytes)
                #expect(pixels[width / 2, width / 4] == Self.green.map(Int.init), "\(name), \(chain)")
            }
            let kept = try develop(file, "none")
            #expect(kept.bytes == file && (kept.width, kept.height) == (40, 30), "\(name)")
        }
    }

    /// The limit applies to the page that is developed.
    @Test func limitOfPixelsIsThatOfTheFullPage() throws {
        let file = TIFFPage.file([Self.small(Self.reduced), Self.page(40, 30)])
        #expect(throws: ImagingError.self) { try develop(file, "sepia", maxPixels: 1199) }
        _ = try develop(file, "sepia", maxPixels: 1200)
    }

    /// A directory that is its own successor or its own SubIFD.
    @Test func circularDirectoriesEnd() {
        var file = TIFFPage.file([Self.small(Self.reduced)])
        file.replaceSubrange(file.count - 4..<file.count, with: file[4..<8])
        _ = try? develop(file, "sepia")  // only must end
    }
}
