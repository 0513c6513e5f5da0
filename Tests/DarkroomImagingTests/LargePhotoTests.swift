import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// Photos with more than 100 million pixels, which fit into memory if the decoder shrinks them or makes strips of them.
@Suite struct LargePhotoTests {
    /// A grey JPEG of 20,000 x 10,000 pixels.
    private static let photo: [UInt8] = {
        let (width, height) = (20_000, 10_000)
        var file = JPEG.file(Pixels(width: 8, height: 8, bands: 1) { _, _, _ in 128 }, .grey)
        guard let frame = file.indices.first(where: { file[$0] == 0xFF && file[$0 + 1] == 0xC0 }),
            let scan = file.indices.first(where: { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        else { preconditionFailure("the file has a frame and a scan") }
        file.replaceSubrange(
            frame + 5..<frame + 9,
            with: [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)])
        // In the usual tables, the code of a block that is like the block before is 001010 (ITU T.81, annex K.3). Four of
        // them have three bytes.
        let blocks = (width / 8) * (height / 8)
        let data = (0..<blocks / 4).flatMap { _ in [0x28, 0xA2, 0x8A] as [UInt8] }
        return Array(file[..<(scan + 10)]) + data + [0xFF, 0xD9]
    }()

    private static func code(_ chain: String, _ settings: String, maxPixels: Int?, orientation: Int = 1) throws
        -> ImagingError.Code?
    {
        let output = ImageOutput(
            filters: try [PhotoFilter](parsing: chain).builtIn, encoding: try PhotoEncoding(parsing: settings))
        let file =
            orientation == 1 ? photo : JPEG.inserting([(0xE1, JPEG.exif(orientation: orientation))], into: photo)
        let options = DevelopOptions(outputs: [output], maxPixels: maxPixels)
        do throws(ImagingError) {
            let image = try develop(file, options)
            if chain != "none" {
                #expect((image.width, image.height) == (orientation == 1 ? (200, 100) : (200, 400)))
            }
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [("resize=200x", ""), ("resize=200x sepia", "format=webp"), ("none", "")], [1, 6])
    func shrunkAndKeptPhotosMayBeLarger(work: (chain: String, settings: String), orientation: Int) throws {
        let (chain, settings) = work
        #expect(try Self.code(chain, settings, maxPixels: nil, orientation: orientation) == nil)
        let exact = try Self.code(chain, settings, maxPixels: 100_000_000, orientation: orientation)
        #expect(exact == .tooManyPixels)
    }

    /// These need all pixels in memory.
    @Test(arguments: [("rotate=90", ""), ("resize=200x,linear", ""), ("resize=200x,kernel:nearest", "")])
    func limitOfPicturesInMemoryStaysInForce(chain: String, settings: String) throws {
        #expect(try Self.code(chain, settings, maxPixels: nil) == .tooManyPixels)
    }
}
