import DarkroomTestSupport
import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// The limit of the processor time of a picture.
@Suite struct ProcessorTimeTests {
    private static func failure(_ bytes: [UInt8], _ options: DevelopOptions) -> ImagingError? {
        do throws(ImagingError) {
            _ = try develop(bytes, options)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ImageFormat.allCases) func pictureOfAnyFormatThatTakesTooLongTimesOut(format: ImageFormat) throws {
        let photo = try develop(TestFiles.sample("coffee.jpg"), DevelopOptions(filters: [], format: format)).bytes
        for written in [ImageFormat.jpeg, .png] {
            var options = DevelopOptions(format: written)
            options.processorTime = .nanoseconds(1)
            let error = Self.failure(photo, options)
            #expect(error?.code == .timedOut, "\(format) to \(written): \(String(describing: error))")
            options.processorTime = .seconds(60)
            _ = try develop(photo, options)
        }
    }

    @Test func failureInStripsNamesTheRendition() throws {
        let photo = try TestFiles.sample("coffee.jpg")
        var options = DevelopOptions(outputs: [ImageOutput(filters: [.standard], rendition: "small")])
        options.processorTime = .nanoseconds(1)
        let late = Self.failure(photo, options)
        #expect(late?.code == .timedOut)
        #expect(late?.detail.hasPrefix("rendition small: ") == true, "\(String(describing: late))")
        // Its size is that of the photo.
        options.maxPixels = 99
        let large = Self.failure(photo, options)
        #expect(large?.code == .tooManyPixels)
        #expect(large?.detail.contains("small") == false, "\(String(describing: large))")
    }

    @Test func limitGrowsInProportionToLargePictures() {
        let options = DevelopOptions(processorTime: .seconds(60))
        #expect(options.processorTime(pixels: 0) == .seconds(60))
        #expect(options.processorTime(pixels: 20_000_000) == .seconds(60))
        #expect(options.processorTime(pixels: 100_000_000) == .seconds(300))
        #expect(DevelopOptions().processorTime(pixels: 100_000_000) == nil)
    }

    @Test func extendedClockContinues() {
        let clock = ProcessorClock(limit: .nanoseconds(1))
        clock.extend(to: .seconds(60))
        // A filter that makes the picture smaller reports its size, too.
        clock.extend(to: .nanoseconds(1))
        #expect(!clock.check() && !clock.isExhausted)
        let other = ProcessorClock(limit: .nanoseconds(1))
        #expect(other.check() && other.isExhausted)
        other.extend(to: .seconds(60))
        #expect(other.check(), "an exhausted clock was extended")
    }

    @Test func sizeIsReportedBeforeAnyPixelIsDecoded() throws {
        for (name, size) in [("coffee.jpg", 600 * 400), ("moon.png", 512 * 512)] {
            var sizes: [Int] = []
            _ = try? Imaging.develop(
                TestFiles.sample(name), DevelopOptions(), sizeIsKnown: { sizes.append($0) }, isCancelled: { true })
            #expect(Set(sizes) == [size], "\(name)")
        }
    }

    /// A program other than Darkroom may write any options of a batch into Redis.
    @Test func optionsOutOfRangeAreClampedOrRefused() throws {
        let photo = try TestFiles.sample("coffee.jpg")
        for quality in [Int.min, -1, 0, 101, 99_999_999_999, Int.max] {
            let options = DevelopOptions(format: .webp, quality: quality)
            #expect((1...100).contains(try #require(options.outputs[0].encoding.quality)))
            _ = try develop(photo, options)
        }
        for maxPixels in [Int.min, -1, 0] {
            let error = Self.failure(photo, DevelopOptions(maxPixels: maxPixels))
            #expect(error?.code == .tooManyPixels)
        }
        _ = try develop(photo, DevelopOptions(maxPixels: .max))
        let many = DevelopOptions(filters: Array(repeating: .standard, count: 100_000), format: .png)
        let error = Self.failure(photo, many)
        #expect(error?.code == .filterFailed)
    }

    /// Damaged segments before the first scan do not affect the pixels.
    @Test func damagedSegmentsBeforeThePixelsDoNotFailAPicture() throws {
        let photo = JPEG.file(Pixels.gradient(width: 64, height: 48), .baseline)
        let pixels = try pixelsByStrips(photo, [.standard])
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 7]  // 7 is not a colour transform (T.872, 6.5.3)
        let jfif = Array("JFIF\0".utf8) + [9, 9, 0, 0, 1, 0, 1, 0, 0]
        for segment in [(code: UInt8(0xEE), bytes: adobe), (0xE0, jfif)] {
            let damaged = JPEG.inserting([segment], into: photo)
            #expect(try pixelsByStrips(damaged, [.standard]) == pixels)
            _ = try develop(damaged, DevelopOptions(format: .png))
        }
        // A Photoshop segment whose length is too small, so that its last bytes belong to no segment.
        let photoshop = JPEG.inserting([(code: 0xED, bytes: Array("Photoshop 3.0\0 more".utf8))], into: photo)
        var short = photoshop
        let length = try #require(short.firstRange(of: [0xFF, 0xED])).upperBound + 1
        short[length] -= 4
        #expect(try pixelsByStrips(short, [.standard]) == pixels)
    }
}
