import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
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
        let file = try TestFiles.sample(name)
        let distance = try pixelsByStrips(file, [.standard]).distance(to: pixelsByVips(file, [.standard]))
        #expect(try #require(distance) <= 1)
    }

    @Test(arguments: Samples.jpegs) func stripsWriteTheSameFileAsLibvips(name: String) throws {
        let options = DevelopOptions(strip: true)
        let file = try TestFiles.sample(name)
        let (strips, vips) = (try develop(file, options), try develop(file, options, by: .withoutStrips))
        #expect((strips.width, strips.height) == (vips.width, vips.height))
        // Equal pixels, quality and subsampling give equal scans; headers may differ.
        #expect(strips.bytes.suffix(2000) == vips.bytes.suffix(2000))
        #expect(abs(strips.byteCount - vips.byteCount) < 200)
    }

    @Test(
        arguments: [
            "resize=200", "resize=61x44,cover,gravity:southeast", "resize=300x100,cover,focus:0.3x0.8 sepia",
            "resize=100x300,fill,kernel:mitchell", "resize=40x30,outside,kernel:cubic contrast=1.2 invert",
            "resize=5000x5000", "resize=9x1,cover",
        ], JPEG.Kind.allCases)
    func scaledStripsAreTheFileOfLibvips(chain: String, kind: JPEG.Kind) throws {
        let file = JPEG.file(Pixels.gradient(width: 343, height: 227, bands: Self.bands(kind)), kind)
        let output = try ImageOutput(
            filters: [PhotoFilter](parsing: chain).builtIn, encoding: PhotoEncoding(parsing: "metadata=none"))
        let options = DevelopOptions(outputs: [output])
        #expect(output.suitsStrips)
        let (strips, vips) = (try develop(file, options), try develop(file, options, by: .withoutStrips))
        #expect((strips.width, strips.height) == (vips.width, vips.height))
        #expect(strips.bytes.suffix(200) == vips.bytes.suffix(200))
    }

    @Test func severalFilesOfStripsAreThoseOfLibvips() throws {
        let file = JPEG.file(Pixels.gradient(width: 643, height: 427, bands: 3), .baseline)
        for chains in [["resize=300", "resize=100 sepia", "resize=20x20,cover"], ["sepia", "resize=100", "invert"]] {
            let options = DevelopOptions(
                outputs: try chains.map {
                    ImageOutput(
                        filters: try [PhotoFilter](parsing: $0).builtIn,
                        encoding: try PhotoEncoding(parsing: "metadata=none"))
                })
            let (strips, vips) = (try developAll(file, options), try developAll(file, options, by: .withoutStrips))
            for (strips, vips) in zip(strips, vips) {
                #expect((strips.width, strips.height) == (vips.width, vips.height))
                #expect(strips.bytes.suffix(200) == vips.bytes.suffix(200))
            }
        }
    }

    @Test(arguments: [
        "resize=900,enlarge", "resize=200x200,contain", "resize=200x100,cover,gravity:attention", "resize=100,linear",
        "resize=100,kernel:nearest", "sepia resize=100", "resize=200 resize=100",
    ])
    func otherScalingNeedsLibvips(chain: String) throws {
        let file = JPEG.file(Pixels.gradient(width: 400, height: 300, bands: 3), .baseline)
        let output = ImageOutput(filters: try [PhotoFilter](parsing: chain).builtIn)
        let strips = try file.withBytes { bytes throws(ImagingError) in
            try Imaging.withDecoder(bytes, DevelopOptions(outputs: [output]), isCancelled: { false }) {
                decoder throws(ImagingError) in
                output.suitsStrips ? try decoder.developByStrips([output]) : nil
            }
        }
        #expect(strips == nil)
    }

    /// The rows that are cut off are read, too.
    @Test(arguments: ["north", "centre", "south"], Development.Route.allCases)
    func damageIsFoundInRowsThatAreCutOff(gravity: String, route: Development.Route) throws {
        let pixels = Pixels.gradient(width: 60, height: 1200, bands: 3)
        for file in [JPEG.file(pixels, .baseline), PNG.file(pixels)] {
            for size in ["60x100", "30x50", "90x90,enlarge"] {
                let options = DevelopOptions(filters: [.parsed("resize=\(size),cover,gravity:\(gravity)")])
                let part = Array(file.prefix(file.count * 9 / 10))
                let error = expectError(ImagingError.self) { try develop(part, options, by: route) }
                #expect(error?.code == .damaged)
            }
        }
    }

    @Test(arguments: Development.Route.allCases, [true, false])
    func sizeInTheMetadataIsThatOfTheFile(route: Development.Route, bigEndian: Bool) throws {
        let exif = EXIF.complete(bigEndian: bigEndian)
        let pixels = Pixels.gradient(width: 400, height: 300, bands: 3)
        let file = JPEG.inserting([(0xE1, exif)], into: JPEG.file(pixels, .baseline))
        let image = try develop(file, DevelopOptions(filters: [.parsed("resize=100")]), by: route)
        for entry in EXIF.size(width: 100, height: 75, bigEndian: bigEndian) { #expect(image.bytes.contains(entry)) }
    }

    @Test(arguments: [89, 90]) func subsamplingDependsOnQualityAsInLibvips(quality: Int) throws {
        let file = try TestFiles.sample("coffee.jpg")
        let options = DevelopOptions(quality: quality, strip: true)
        let (strips, vips) = (try develop(file, options), try develop(file, options, by: .withoutStrips))
        #expect(strips.bytes.suffix(2000) == vips.bytes.suffix(2000))
    }

    @Test func outputBufferGrowsIfTheFileIsLargerThanExpected() throws {
        let file = JPEG.file(.noise(width: 300, height: 200, bands: 3), .fullColour, quality: 5)
        let developed = try develop(file, DevelopOptions(filters: [.sepia(intensity: 0)], quality: 100))
        let again = try develop(developed.bytes)
        #expect((again.width, again.height) == (300, 200))
        #expect(developed.byteCount > file.count + 300 * 200 / 3 + 4096)
    }
}
