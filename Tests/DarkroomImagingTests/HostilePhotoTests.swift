import CZlib
import Foundation
import Testing

@testable import DarkroomImaging

/// Small files that need much memory or time, and files that contain more than a picture.
@Suite struct HostilePhotoTests {
    private static func failure(_ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions()) -> ImagingError? {
        do throws(ImagingError) {
            _ = try develop(bytes, options)
            return nil
        } catch {
            return error
        }
    }

    /// A compressed text chunk that expands to `count` bytes.
    fileprivate static func packedText(_ count: Int) -> [UInt8] {
        let text = [UInt8](repeating: 0x61, count: count)
        var packed = [UInt8](repeating: 0, count: Int(compressBound(UInt(count))))
        var size = UInt(packed.count)
        precondition(compress(&packed, &size, text, UInt(count)) == Z_OK)
        return Array("Comment\0\0".utf8) + packed.prefix(Int(size))
    }

    /// The bytes of all texts together are limited, and not their number.
    @Test func pngWhoseTextsInflateToManyBytesIsRefused() {
        let text = (type: "zTXt", bytes: Self.packedText(7_900_000))
        let small = (type: "zTXt", bytes: Self.packedText(1000))
        let pixels = Pixels.gradient(width: 9, height: 9)
        let most = Array(repeating: text, count: 6)
        #expect(Self.failure(PNG.file(pixels, chunks: most + Array(repeating: small, count: 40))) == nil)
        let international = Array("Comment\0\u{1}\0\0\0".utf8) + text.bytes.dropFirst(9)
        for chunk in [text, (type: "iTXt", international), ("iCCP", text.bytes)] {
            let error = Self.failure(PNG.file(pixels, chunks: most + [chunk]))
            #expect(error?.code == .damaged)
            #expect(error?.detail.contains("more than 48 MiB") == true, "\(String(describing: error))")
        }
    }

    @Test func pictureWithManyBytesPerPixelCountsAsMorePixels() {
        let deep = Pixels(width: 40, height: 40, bands: 100, value: { x, y, _ in x + y })
        let error = Self.failure(TIFF.file(deep, .grey), DevelopOptions(format: .jpeg, maxPixels: 10_000))
        #expect(error?.code == .tooManyPixels)
        #expect(
            error?.detail.contains("100 bytes per pixel, which count as 13 pixels") == true,
            "\(String(describing: error))")
        #expect(Self.failure(TIFF.file(deep, .grey), DevelopOptions(format: .jpeg, maxPixels: 20_001)) == nil)
    }

    /// Each scan is a pass over the whole picture; in a picture of one colour a scan has only a few bytes.
    @Test(arguments: [
        (400, 200, 200, 0), (400, 200, 201, 200), (400, 200, 600, 200), (5120, 2560, 20, 0), (5120, 2560, 195, 190),
    ])
    func jpegWithManyScansIsRefused(width: Int, height: Int, scans: Int, limit: Int) {
        let even = Pixels(width: width, height: height, bands: 1, values: Array(repeating: 128, count: width * height))
        let error = Self.failure(JPEG.file(even, .grey, scans: scans))
        #expect(error?.code == (limit == 0 ? nil : .damaged))
        #expect(
            limit == 0 || error?.detail.contains("more than \(limit) scans") == true, "\(String(describing: error))")
    }

    @Test(arguments: [1, 2, 3, 4] as [Int32], [1, 2, 3, 4] as [Int32])
    func oddSubsamplingIsReadOrRefused(horizontal: Int32, vertical: Int32) {
        let pixels = Pixels.gradient(width: 37, height: 29)
        for sampling in [[(horizontal, vertical), (1, 1), (1, 1)], [(1, 1), (horizontal, vertical), (1, 1)]] {
            // An MCU has at most 10 blocks (ISO 10918-1, B.2.3).
            guard sampling.reduce(0, { $0 + $1.0 * $1.1 }) <= 10 else { continue }
            let error = Self.failure(JPEG.file(pixels, .baseline, sampling: sampling))
            #expect(error == nil || error?.code == .unsupportedFormat, "\(sampling): \(String(describing: error))")
        }
    }

    /// Another program could interpret the data that follow a picture as a different format.
    @Test(arguments: [
        JPEG.file(.gradient(width: 20, height: 20), .baseline), PNG.file(.gradient(width: 20, height: 20)),
    ])
    func dataAfterAPictureIsNotCopied(picture: [UInt8]) throws {
        for tail in ["%PDF-1.7 tail", "PK\u{3}\u{4} tail", "<script>tail</script>", "<?php tail"] {
            let image = try develop(picture + Array(tail.utf8))
            #expect(!image.bytes.contains(Array("tail".utf8)))
        }
    }

    /// XML that refers to a file or a server is refused, even if other bytes precede the XML.
    @Test func documentsAreNotRead() {
        let entity = "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
        let svg = "<svg xmlns='http://www.w3.org/2000/svg'><image href='http://127.0.0.1:1/x'/>&x;</svg>"
        for text in [
            "<?xml version='1.0'?>\(entity)\(svg)", "\u{feff}\(svg)", " \n\(svg)", "%PDF-1.4\n\(svg)", "<!--a-->\(svg)",
        ] {
            let error = Self.failure(Array(text.utf8))
            #expect(error?.code == .unsupportedFormat || error?.code == .notAnImage, "\(String(describing: error))")
        }
    }

    // MARK: Memory

    enum Bomb: String, CaseIterable, Codable {
        case framesOfGIF, directoriesOfTIFF, textsOfPNG, markersOfJPEG, rowsOfPNG

        /// Files of up to 30 MB.
        func make() -> [UInt8] {
            let small = Pixels.gradient(width: 9, height: 9)
            switch self {
            case .framesOfGIF:
                let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
                let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
                return head + Array(repeatElement(frame, count: 1_000_000).joined()) + [0x3B]
            case .directoriesOfTIFF:
                return TIFF.pages(50_000)
            case .textsOfPNG:
                return PNG.file(
                    small, chunks: Array(repeating: ("zTXt", HostilePhotoTests.packedText(7_900_000)), count: 8))
            case .markersOfJPEG:
                let marker = (
                    code: UInt8(0xE1), bytes: JPEG.exif(orientation: 1) + [UInt8](repeating: 0, count: 65_000)
                )
                return JPEG.inserting(Array(repeating: marker, count: 400), into: JPEG.file(small, .baseline))
            case .rowsOfPNG:
                return PNG.file(
                    Pixels(width: 4000, height: 2000, bands: 1, values: Array(repeating: 0, count: 8_000_000)))
            }
        }
    }

    @Test(
        .enabled(if: dlsym(nil, "__asan_init") == nil, "the address sanitizer needs additional memory"),
        arguments: Bomb.allCases)
    func memoryIsLimited(bomb: Bomb) async throws {
        #if compiler(>=6.3)
            await #expect(processExitsWith: .success) { [bomb = bomb as Bomb] in
                try HostilePhotoTests.developInLimitedMemory(bomb)
            }
        #else
            try Self.developInLimitedMemory(bomb)
        #endif
    }

    fileprivate static func developInLimitedMemory(_ bomb: Bomb) throws {
        try Imaging.start()
        let bytes = bomb.make()
        let before = try residentPeak(resetting: true)
        // The picture may fail or succeed; the test checks only the memory.
        var options = DevelopOptions()
        for keepsAnimation in [false, true] {
            options.keepsAnimation = keepsAnimation
            _ = try? develop(bytes, options)
        }
        let grown = try residentPeak(resetting: false) - before
        precondition(grown < 400 << 10, "\(bomb) of \(bytes.count) bytes took \(grown) KiB")
    }

    /// The peak resident memory of the process, in KiB (proc(5), `VmHWM`).
    fileprivate static func residentPeak(resetting: Bool) throws -> Int {
        if resetting { try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        return status.firstMatch(of: /VmHWM:\s+(\d+)/).flatMap { Int($0.1) } ?? .max
    }
}
