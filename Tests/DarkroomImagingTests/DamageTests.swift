import DarkroomTestSupport
import CImagingProbes
import DarkroomRecipes
import ErrorExpectations
import Foundation
import DarkroomConcurrency
import Testing

@testable import DarkroomImaging

@Suite struct DamageTests {
    private static func failure(
        _ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions(), by route: Development.Route = .usual
    ) -> ImagingError? {
        do {
            _ = try develop(bytes, options, by: route)
            return nil
        } catch {
            return error
        }
    }

    /// A picture with detail in all its parts.
    private static func file(_ format: ImageFormat) throws -> [UInt8] {
        try files.get()[format]!
    }

    private static let files = Result {
        try Dictionary(
            uniqueKeysWithValues: ImageFormat.allCases.map {
                ($0, try develop(TestFiles.sample("coffee.jpg"), DevelopOptions(format: $0)).bytes)
            })
    }

    static let formatsButJPEG = ImageFormat.allCases.filter { $0 != .jpeg }

    @Test(arguments: formatsButJPEG, [10, 50, 90, 99])
    func truncatedFileIsDamaged(format: ImageFormat, percent: Int) throws {
        let whole = try Self.file(format)
        let error = Self.failure(Array(whole.prefix(whole.count * percent / 100)), DevelopOptions(format: .png))
        #expect(error?.code == .damaged, "\(String(describing: error))")
    }

    @Test(arguments: Development.Route.allCases, [JPEG.Kind.baseline, .progressive, .restarts])
    func truncatedJPEGIsDamaged(route: Development.Route, kind: JPEG.Kind) throws {
        let photo = try pixelsByStrips(TestFiles.sample("coffee.jpg"), [])
        let whole = JPEG.file(photo, kind)
        for count in [3, 100, 700, whole.count / 10, whole.count / 2, whole.count - 100, whole.count - 3] {
            let error = Self.failure(Array(whole.prefix(count)), by: route)
            #expect(error?.code == .damaged, "\(count) bytes: \(String(describing: error))")
        }
        #expect(Self.failure(whole, by: route) == nil)
    }

    @Test(arguments: Development.Route.allCases) func corruptDataIsDamaged(route: Development.Route) throws {
        var bytes = try TestFiles.sample("china.jpg")
        for i in bytes.count / 2..<bytes.count / 2 + 400 { bytes[i] = UInt8(truncatingIfNeeded: i &* 37) & 0x7F }
        #expect(Self.failure(bytes, by: route)?.code == .damaged)
    }

    @Test(arguments: [ImageFormat.png, .tiff]) func corruptDataOfOtherFormatsIsDamaged(format: ImageFormat)
        throws
    {
        var bytes = try Self.file(format)
        for i in bytes.count / 2..<bytes.count / 2 + 4000 { bytes[i] = UInt8(truncatingIfNeeded: i &* 37) }
        let error = Self.failure(bytes, DevelopOptions(format: .jpeg))
        #expect(error?.code == .damaged, "\(String(describing: error))")
    }

    @Test func jpegWithManyRepeatedScansIsRefused() throws {
        // The last scan of a progressive picture is repeated; each scan is a pass over all coefficients.
        let whole = JPEG.file(Pixels.gradient(width: 400, height: 300), .progressive)
        let starts = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
        let last = try #require(starts.last)
        let scan = whole[last..<whole.count - 2]
        let bomb = Array(whole[..<last]) + Array(repeatElement(scan, count: 1000).joined()) + whole.suffix(2)
        let error = Self.failure(bomb)
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [
        ("<!DOCTYPE html><html><body>404</body></html>", ImagingError.Code.notAnImage),
        ("\n\n<html><svg width='10'/></html>", .unsupportedFormat),
        ("<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'/>", .unsupportedFormat),
        ("<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", .unsupportedFormat),
        ("%PDF-1.7\n", .notAnImage),
        ("%!PS-Adobe-3.0 EPSF-3.0", .notAnImage),
        ("push graphic-context\nviewbox 0 0 640 480", .notAnImage),
        ("P6 1 1 255 abc", .notAnImage),
        ("NO URL", .notAnImage),
        ("", .notAnImage),
    ])
    func otherContentIsNotAnImage(content: String, code: ImagingError.Code) {
        #expect(Self.failure(Array(content.utf8))?.code == code)
    }

    @Test func firstBytesDecideTheFormatOfAPolyglot() throws {
        // The file begins as a JPEG and continues as HTML. Darkroom, not libvips, chooses the loader.
        #expect(Self.failure([0xFF, 0xD8, 0xFF, 0xFE] + Array("<html><svg></svg></html>".utf8))?.code == .damaged)
        let gif = Array("GIF89a=1;/*".utf8) + Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
        #expect(Self.failure(gif)?.code == .damaged)
    }

    @Test func onlyTheLoadersOfSupportedFormatsAreEnabled() throws {
        try Imaging.start()
        let path = FileManager.default.temporaryDirectory.appending(path: "darkroom-\(UUID().uuidString).svg").path
        try #"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>"#.write(
            toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(!can_load(path))
        let photo = FileManager.default.temporaryDirectory.appending(path: "darkroom-\(UUID().uuidString).jpg")
        try Data(TestFiles.sample("coffee.jpg")).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        #expect(can_load(photo.path))
    }

    @Test(arguments: ImageFormat.allCases) func tooManyPixelsAreRefusedFromTheHeader(format: ImageFormat) throws {
        let whole = try Self.file(format)
        let error = Self.failure(whole, DevelopOptions(maxPixels: 1000))
        #expect(error?.code == .tooManyPixels)
        #expect(error?.detail.contains("600 x 400 pixels, at most 1000") == true, "\(String(describing: error))")
    }

    @Test func hugeDimensionsAreRefusedBeforeDecoding() throws {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let small = PNG.file(Pixels.gradient(width: 9, height: 9))
        for (width, height) in [(20_000, 20_000), (1_000_000, 1_000_000), (0x7FFF_FFFF, 0x7FFF_FFFF)] {
            let header = PNG.header(width: width, height: height, bands: 3, bits: 8)
            let png = signature + header + Array(small.dropFirst(8 + header.count))
            let error = Self.failure(png)
            #expect(error?.code == .tooManyPixels, "\(width): \(String(describing: error))")
        }
        var jpeg = JPEG.file(Pixels.gradient(width: 9, height: 9), .baseline)
        let frame = try #require(jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
        for side in [0xFF00, 0xFFFF] {
            jpeg.replaceSubrange(
                frame + 5..<frame + 9, with: [UInt8(side >> 8), UInt8(side & 255), UInt8(side >> 8), UInt8(side & 255)])
            let error = Self.failure(jpeg, DevelopOptions(format: .png))
            #expect(error?.code == .tooManyPixels, "\(side): \(String(describing: error))")
        }
        let gif =
            Array("GIF89a".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
            + [0x2C, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 2, 2, 0x44, 1, 0, 0x3B]
        #expect(Self.failure(gif)?.code == .tooManyPixels, "\(String(describing: Self.failure(gif)))")
        for side in [20_000, 2_000_000, 0x7FFF_FFFF] {
            let tiff = TIFF.file(Pixels.gradient(width: 9, height: 9), .rgb, headerWidth: side, headerHeight: side)
            let error = Self.failure(tiff)
            #expect(error?.code == .tooManyPixels, "\(side): \(String(describing: error))")
        }
        for format in [ImageFormat.avif, .heic] {
            var bytes = try Self.file(format)
            // The property "image spatial extents" (ISO 23008-12, 6.5.3) has version and flags, width, height.
            let size = try #require(bytes.firstRange(of: Array("ispe".utf8))).upperBound + 4
            bytes.replaceSubrange(size..<size + 8, with: PNG.bigEndian(60_000) + PNG.bigEndian(60_000))
            let error = Self.failure(bytes)
            #expect(error?.code == .tooManyPixels, "\(format): \(String(describing: error))")
        }
    }

    @Test func errorSaysWhichSideIsTooLongForTheFormat() throws {
        let long = PNG.file(Pixels(width: 17_000, height: 2, bands: 1) { x, _, _ in x & 255 })
        let error = Self.failure(long, DevelopOptions(format: .webp))
        #expect(error?.code == .filterFailed)
        #expect(error?.detail.contains("at most 16383 pixels") == true)
    }

    @Test func errorsOfOneThreadDoNotAffectOthers() throws {
        // libvips has one error buffer for all threads, so it cannot show which picture failed.
        let good = try PNG.file(PNG.pixels(of: Self.file(.png)))
        let damaged = Array(good.prefix(good.count / 2))
        let found = Locked<[ImagingError.Code?]>([])
        DispatchQueue.concurrentPerform(iterations: 40) { i in
            let error = Self.failure(i % 2 == 0 ? good : damaged, DevelopOptions(format: .jpeg))
            if error?.code != (i % 2 == 0 ? nil : .damaged) { found.withLock { $0.append(error?.code) } }
        }
        #expect(found.withLock { $0 }.isEmpty)
    }

    @Test(arguments: [ImageFormat.jpeg, .png]) func cancelStopsBetweenStrips(format: ImageFormat) throws {
        let file = JPEG.file(Pixels.gradient(width: 1000, height: 2000), .baseline)
        for route in Development.Route.allCases {
            let checks = Locked(0)
            let error = expectError(ImagingError.self) {
                try file.withBytes { bytes throws(ImagingError) in
                    let options = DevelopOptions(format: format)
                    let isCancelled = { @Sendable in
                        checks.withLock { count in
                            count += 1
                            return count == 5
                        }
                    }
                    return try Imaging.withDecoder(bytes, options, isCancelled: isCancelled) {
                        decoder throws(ImagingError) in
                        try Development(decoder: decoder, photo: bytes, options: options, route: route).run()
                    }
                }
            }
            #expect(error?.code == .cancelled)
            #expect(checks.withLock { $0 } < 12)
        }
    }

    @Test(arguments: ImageFormat.allCases) func everyFormatCanBeCancelled(format: ImageFormat) throws {
        let file = try Self.file(format)
        for filters in [[Filter.standard], [.standard, .tiltShift(radius: 3)]] {
            let error = expectError(ImagingError.self) {
                try Imaging.develop(file, DevelopOptions(filters: filters)) { true }
            }
            #expect(error?.code == .cancelled)
        }
    }
}
