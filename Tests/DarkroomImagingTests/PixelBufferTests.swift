import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// Pixels for operations that are written in Swift.
@Suite struct PixelBufferTests {
    @Test(arguments: [1, 2, 3, 4], [8, 16]) func decodesAndEncodesWithoutLoss(bands: Int, bits: Int) throws {
        let pixels = Pixels.gradient(width: 31, height: 17, bands: bands, bits: bits)
        let buffer = try Imaging.pixels(of: PNG.file(pixels))
        #expect(buffer.width == 31 && buffer.height == 17 && buffer.bands == bands && buffer.isWide == (bits == 16))
        #expect(buffer.samples == pixels.values)
        let encoded = try PNG.pixels(of: try Imaging.png(of: buffer))
        #expect(encoded == pixels)
    }

    @Test(arguments: 1...8) func photoIsUpright(orientation: Int) throws {
        let pixels = Pixels.gradient(width: 48, height: 32)
        let file = JPEG.inserting([(0xE1, JPEG.exif(orientation: orientation))], into: JPEG.file(pixels, .baseline))
        let buffer = try Imaging.pixels(of: file)
        #expect(buffer.width == (orientation < 5 ? 48 : 32) && buffer.height == (orientation < 5 ? 32 : 48))
        // Red grows to the right in the file.
        let corners = [0, buffer.width - 1, (buffer.height - 1) * buffer.width, buffer.width * buffer.height - 1]
        let redCorners = corners.filter { buffer.samples[3 * $0] > 200 }.map { corners.firstIndex(of: $0) ?? -1 }
        let expected = [[1, 3], [0, 2], [0, 2], [1, 3], [2, 3], [2, 3], [0, 1], [0, 1]]
        #expect(redCorners == expected[orientation - 1])
        // The PNG itself has no orientation.
        let again = try Imaging.pixels(of: try Imaging.png(of: buffer))
        #expect(again == buffer)
    }

    @Test func samplesAboveWhiteBecomeWhite() throws {
        let buffer = PixelBuffer(width: 2, height: 1, bands: 1, isWide: false, samples: [7, 300])
        let encoded = try PNG.pixels(of: try Imaging.png(of: buffer))
        #expect(encoded.values == [7, 255])
    }

    @Test func refusesCancelledLargeAndOtherFiles() {
        let file = PNG.file(.gradient(width: 30, height: 20))
        let errors = [
            expectError(ImagingError.self) { _ = try Imaging.pixels(of: file, isCancelled: { true }) },
            expectError(ImagingError.self) { _ = try Imaging.pixels(of: file, maxPixels: 599) },
            expectError(ImagingError.self) { _ = try Imaging.pixels(of: Array("text".utf8)) },
        ]
        #expect(errors.map { $0?.code } == [.cancelled, .tooManyPixels, .notAnImage])
    }
}
