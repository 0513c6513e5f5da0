import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
import FuzzSupport
import Testing

@testable import DarkroomImaging

/// `--on-damaged tolerate`, the default: photos with all their pixels are developed and noted, others fail.
@Suite struct ToleratedDamageTests {
    private static let pixels = Pixels(width: 120, height: 80, bands: 3) { x, y, band in
        (x * 5 + y * 3 * band + (x * y) % 17 * 6) & 255
    }

    /// The chains of both routes, with and without scaling, and of kept bytes.
    private static let chains = ["sepia", "resize=30x", "rotate=90", "blur=1", "none"]

    /// Expects that the file gives the pixels of the sound file with a note, and fails without tolerance.
    private static func expectTolerated(
        _ file: [UInt8], as sound: [UInt8], _ note: String, format: String = "png"
    ) throws {
        for chain in chains {
            let settings = chain == "none" ? "" : "format=\(format)"
            let image = try develop(file, chain, settings)
            #expect(image.note?.contains(note) == true, "\(chain): \(image.note ?? "no note")")
            if chain == "none" {
                #expect(image.bytes == file)
            } else {
                #expect(try decoded(image.bytes) == decoded(develop(sound, chain, settings).bytes), "\(chain)")
            }
            let error = expectError(ImagingError.self) { try develop(file, chain, settings, damage: .fail) }
            // The detail can have the words of the decoder.
            #expect(error?.code == .damaged || error?.code == .unsupportedFormat, "\(String(describing: error))")
            #expect(throws: Never.self) { try develop(file, chain, settings, damage: .accept) }
        }
        #expect(try develop(sound, "sepia").note == nil)
    }

    private static func expectDamaged(_ file: [UInt8], _ comment: Comment? = nil) {
        for chain in chains {
            let error = expectError(ImagingError.self) { try develop(file, chain) }
            #expect(error?.code == .damaged, comment)
        }
    }

    // MARK: - JPEG

    private static let kinds = [JPEG.Kind.baseline, .grey, .restarts, .progressive]

    private static func jpeg(_ kind: JPEG.Kind) -> [UInt8] {
        let grey = Pixels(width: 120, height: 80, bands: 1) { x, y, _ in pixels[x, y][1] }
        return JPEG.file(kind == .grey ? grey : pixels, kind)
    }

    /// The bytes with others in place of the end marker.
    private static func ending(_ file: [UInt8], with bytes: [UInt8]) -> [UInt8] { file.dropLast(2) + bytes }

    @Test(arguments: kinds) func jpegWithoutEndMarker(kind: JPEG.Kind) throws {
        let whole = Self.jpeg(kind)
        try Self.expectTolerated(Self.ending(whole, with: []), as: whole, "end marker is missing", format: "jpeg")
        try Self.expectTolerated(Self.ending(whole, with: [0xFF]), as: whole, "end marker is missing")
        for missing in [1, 2, 5, 50, 300] { Self.expectDamaged(whole.dropLast(2 + missing), "\(missing)") }
    }

    @Test func jpegWithoutItsLastScans() {
        let whole = Self.jpeg(.progressive)
        let scans = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
        for scan in scans.dropFirst() { Self.expectDamaged(Array(whole[..<scan])) }
    }

    /// libjpeg does not report stray bytes that it has read together with the last bytes of the pixels.
    @Test(arguments: kinds, [1, 4, 30, 3000]) func jpegWithStrayBytesBeforeItsEnd(kind: JPEG.Kind, count: Int) throws {
        let whole = Self.jpeg(kind)
        let text = (0..<count).map { UInt8(0x20 + $0 % 64) }
        let padding = [UInt8](repeating: 0, count: count)
        // In a progressive file, many bytes could be data of pixels.
        for stray in kind == .progressive && count > 30 ? [padding] : [padding, text] {
            let file = Self.ending(whole, with: stray + [0xFF, 0xD9])
            if count > 8 {
                try Self.expectTolerated(file, as: whole, "stray bytes", format: "jpeg")
            } else {
                #expect(try decoded(develop(file, "sepia").bytes) == decoded(develop(whole, "sepia").bytes))
            }
        }
    }

    @Test func jpegWithStrayBytesBeforeRestarts() throws {
        let whole = Self.jpeg(.restarts)
        var file: [UInt8] = []
        var isScan = false
        for (index, byte) in whole.enumerated() {
            let next = index + 1 < whole.count ? whole[index + 1] : 0
            if byte == 0xFF, next == 0xDA { isScan = true }
            if isScan, byte == 0xFF, (0xD0...0xD7).contains(next) { file += Array("stray bytes".utf8) }
            file.append(byte)
        }
        #expect(file.count > whole.count)
        try Self.expectTolerated(file, as: whole, "stray bytes", format: "jpeg")
    }

    @Test(
        arguments: [[0, 0, 0], [1, 63, 0], [0, 63, 0x11], [5, 6, 0x77]] as [[UInt8]], [JPEG.Kind.baseline, .grey])
    func jpegWithStrangeParametersOfItsScan(parameters: [UInt8], kind: JPEG.Kind) throws {
        let whole = Self.jpeg(kind)
        let scan = try #require(whole.indices.dropLast().first { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA })
        let place = scan + 5 + 2 * Int(whole[scan + 4])
        var file = whole
        file.replaceSubrange(place..<place + 3, with: parameters)
        try Self.expectTolerated(file, as: whole, "parameters of the scan", format: "jpeg")
    }

    @Test func jpegWithAnInvalidSegmentAfterItsPixels() throws {
        let whole = Self.jpeg(.baseline)
        try Self.expectTolerated(
            Self.ending(whole, with: [0xFF, 0x02, 0xFF, 0xD9]), as: whole, "after the pixels", format: "jpeg")
    }

    /// Bytes after the end marker are not a defect: phones write videos and further pictures there.
    @Test func bytesAfterTheEndAreNoDefect() throws {
        for file in [Self.jpeg(.baseline), PNG.file(Self.pixels)] {
            #expect(try develop(file + Array("video".utf8), "sepia", damage: .fail).note == nil)
        }
    }

    /// Corrupt data often leave stray bytes, too. What fails without tolerance also fails with it.
    @Test func corruptDataAreNotTakenForStrayBytes() throws {
        let whole = try TestFiles.sample("china.jpg")
        let scan = try #require(whole.indices.dropLast().last { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA })
        var isLeftOver = 0
        for step in 1...40 {
            var file = whole
            let place = scan + (whole.count - scan) * step / 42
            for index in place..<place + 12 where file[index] != 0xFF && file[index - 1] != 0xFF { file[index] ^= 0x55 }
            // Some corrupt data are data of another picture.
            let isFound = (try? develop(file, "sepia", damage: .fail)) == nil
            guard isFound else { continue }
            let error = expectError(ImagingError.self) { try develop(file, "sepia") }
            #expect(error?.code == .damaged, "\(step)")
            isLeftOver += error?.detail.contains("extraneous") == true ? 1 : 0
        }
        #expect(isLeftOver > 10)
    }

    /// After corrupt data, a decoder often reads the right codes again, but has missed some blocks. When it has decoded
    /// as many blocks as the picture has, the data of the last blocks are therefore left. They are not stray bytes.
    @Test(arguments: [JPEG.Kind.baseline, .grey, .restarts]) func blocksThatAreLeftAreNoStrayBytes(kind: JPEG.Kind)
        throws
    {
        let pixels = try decoded(develop(TestFiles.sample("china.jpg"), "resize=200x", "format=png").bytes)
        let whole = JPEG.file(
            kind == .grey
                ? Pixels(width: pixels.width, height: pixels.height, bands: 1) { x, y, _ in pixels[x, y][1] } : pixels,
            kind)
        let scan = try #require(whole.indices.dropLast().last { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA })
        var generator = SeededGenerator(seed: 26)
        var isNoticed = 0
        var isTolerated = 0
        for round in 0..<300 {
            var file = whole
            let place = Int.random(in: scan + 12..<whole.count - 80, using: &generator)
            let count = Int.random(in: 1...64, using: &generator)
            switch round % 3 {
            case 0: for index in place..<place + count where file[index] != 0xFF { file[index] ^= 0x11 }
            case 1: file.removeSubrange(place..<place + count)
            default:
                file.insert(contentsOf: (0..<count).map { _ in .random(in: 0...254, using: &generator) }, at: place)
            }
            // Some corrupt data are data of another picture, which no decoder notices.
            guard (try? develop(file, "sepia", damage: .fail)) == nil else { continue }
            isNoticed += 1
            isTolerated += (try? develop(file, "sepia")) == nil ? 0 : 1
        }
        #expect(isNoticed > 100)
        // Few bytes before a restart marker can be both.
        #expect(isTolerated <= (kind == .restarts ? isNoticed / 50 : 0), "of \(isNoticed)")
    }

    @Test func casesOfCameras() throws {
        for (name, note) in [("s1-sos-se0.jpg", "parameters of the scan"), ("a11-no-eoi.jpg", "end marker")] {
            let file = try Samples.photoCase(name)
            for chain in Self.chains {
                #expect(try develop(file, chain).note?.contains(note) == true, "\(name), \(chain)")
            }
        }
    }

    // MARK: - PNG

    private static func chunk(_ type: String, _ bytes: [UInt8] = []) -> [UInt8] {
        PNG.bigEndian(bytes.count) + Array(type.utf8) + bytes + [1, 2, 3, 4]
    }

    /// The position of the first chunk after the header.
    private static let afterHeader = 8 + 12 + 13

    @Test(arguments: ["tEXt", "tIME", "iTXt", "eXIf", "abCd"]) func pngWithAWrongCheckValue(type: String) throws {
        let whole = PNG.file(Self.pixels)
        var file = whole
        file.insert(contentsOf: Self.chunk(type, Array("key\0text".utf8)), at: Self.afterHeader)
        try Self.expectTolerated(file, as: whole, "check value of the chunk \(type)")
    }

    @Test(arguments: [1, 5, 11, 12]) func pngWithoutItsEnd(missing: Int) throws {
        let whole = PNG.file(Self.pixels)
        try Self.expectTolerated(whole.dropLast(missing), as: whole, "end of the file is missing")
    }

    @Test func pngWithoutTheLastCheckValue() throws {
        let whole = PNG.file(Self.pixels)
        for missing in [13, 16] {
            try Self.expectTolerated(whole.dropLast(missing), as: whole, "end of the file is missing")
        }
        for missing in [30, 60, 400] { Self.expectDamaged(whole.dropLast(missing), "\(missing)") }
        var file = whole
        file[whole.count - 13] ^= 1
        Self.expectDamaged(file, "the check value of the pixels")
    }

    @Test func pngThatEndsInAText() throws {
        let whole = PNG.file(Self.pixels)
        try Self.expectTolerated(
            whole.dropLast(12) + Self.chunk("tEXt", Array("key\0text".utf8)).prefix(13), as: whole, "end of the file")
    }

    @Test func pngWithManyTexts() throws {
        let file = try Samples.photoCase("a17-many-ztxt.png")
        for chain in Self.chains { #expect(try develop(file, chain, damage: .fail).note == nil) }
    }

    // MARK: - WebP and GIF

    @Test(arguments: [false, true]) func webpWithAWrongSize(lossless: Bool) throws {
        let whole = try develop(PNG.file(Self.pixels), "sepia=0", "format=webp; lossless=\(lossless ? "yes" : "no")")
            .bytes
        for difference in [-8, -4, 6, 1000] {
            var file = whole
            let size = file.count - 8 + difference
            file.replaceSubrange(4..<8, with: (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) })
            try Self.expectTolerated(file, as: whole, "the header says")
            Self.expectDamaged(file.dropLast(10))
        }
        Self.expectDamaged(whole.dropLast(10))
    }

    /// Another file behind the first is not a defect.
    @Test func webpWithAnotherBehindIt() throws {
        let whole = try develop(PNG.file(Self.pixels), "sepia=0", "format=webp").bytes
        for rest in [whole, Array("RIFF".utf8), Array("video".utf8)] {
            #expect(try develop(whole + rest, "sepia", damage: .fail).note == nil)
        }
    }

    @Test(
        arguments: [[0x21, 0xFE, 1, 0x41, 0, 0x3B], [0x21, 0xFE, 0, 0x3B], [0x21, 0xF9, 0, 0x3B, 0x3B]] as [[UInt8]])
    func gifThatEndsInAShortComment(ending: [UInt8]) throws {
        let whole = try develop(PNG.file(Self.pixels), "sepia=0", "format=gif").bytes
        let file = whole.dropLast() + ending
        #expect(try develop(Array(file), "sepia", damage: .fail).note == nil)
    }

    @Test func gifWithoutEnd() throws {
        let note = "the end of the file is missing"
        let encoded = try develop(PNG.file(Self.pixels), "sepia=0", "format=gif").bytes
        // The last block of the last frame has 191 bytes.
        let plain = GIF.file(
            width: 40, height: 30, palette: [[200, 40, 40], [40, 180, 60]], delays: [40, 40], loops: 0,
            frames: [{ x, _ in x & 1 }, { _, y in y & 1 }])
        for whole in [encoded, plain] {
            let withoutTrailer = Array(whole.dropLast()), withoutTerminator = Array(whole.dropLast(2))
            try Self.expectTolerated(withoutTrailer, as: whole, note)
            try Self.expectTolerated(withoutTrailer + [0x21, 0xFE, 9, 1, 2], as: whole, note)
            try Self.expectTolerated(withoutTerminator, as: whole, note)
            try Self.expectTolerated(withoutTerminator + [0x3B], as: whole, note)
            for missing in [3, 10, 200] { Self.expectDamaged(whole.dropLast(missing), "\(missing)") }
        }
        Self.expectDamaged(plain.dropLast(2 + 192))
        Self.expectDamaged(plain.dropLast(2 + 192) + [0, 0x3B], "decoders show the frame without its last pixels")
        Self.expectDamaged(plain.dropLast(1200), "decoders leave the second frame out")
    }

    // MARK: - Reasons

    @Test func optimizedPNGOfAppleIsUnsupported() throws {
        let file = try Samples.photoCase("a17-cgbi.png")
        for chain in Self.chains {
            let error = expectError(ImagingError.self) { try develop(file, chain) }
            #expect(error?.code == .unsupportedFormat && error?.detail.contains("CgBI") == true)
        }
    }

    @Test func photoThatNeedsANewerLibraryIsUnsupported() throws {
        let file = try Samples.photoCase("f06-ios18-two-aux-refs.heic")
        guard !Imaging.readsSharedHEIF else {
            #expect(throws: Never.self) { try develop(file, "sepia", "format=png") }
            return
        }
        let error = expectError(ImagingError.self) { try develop(file, "sepia") }
        #expect(error?.code == .unsupportedFormat, "\(String(describing: error))")
        #expect(error?.detail.contains("libheif 1.18") == true && Imaging.heifVersion?.hasPrefix("1.") == true)
    }

    @Test func encoderThatRefusesASizeIsNoLackOfMemory() throws {
        let flat = TIFF.file(Pixels(width: 16_384, height: 2, bands: 1) { x, _, _ in x >> 4 & 255 }, .grey)
        let error = expectError(ImagingError.self) { try develop(flat, "sepia=0", "format=heic") }
        #expect(error?.code == .filterFailed, "\(String(describing: error))")
        let isNamed = error?.detail.contains("refuses pictures of 16384 x 2 pixels") == true
        #expect(isNamed, "\(String(describing: error))")
        #expect(try develop(flat, "sepia=0", "format=auto:heic,jpeg").format == .jpeg)
    }

    @Test(arguments: [
        (ImageFormat.avif, 16_384), (.heic, 16_384), (.webp, 16_383), (.jpeg, 65_500), (.gif, 65_535),
    ])
    func sideLongerThanTheFormatAllows(format: ImageFormat, most: Int) throws {
        let long = TIFF.file(Pixels(width: most + 1, height: 2, bands: 1) { x, _, _ in x >> 4 & 255 }, .grey)
        let error = expectError(ImagingError.self) {
            try develop(long, "sepia=0", "format=\(format.rawValue)")
        }
        #expect(error?.code == .filterFailed, "\(String(describing: error))")
        #expect(error?.detail.contains("at most \(most) pixels per side") == true, "\(String(describing: error))")
        let other = try develop(long, "sepia=0", "format=auto:\(format.rawValue),tiff")
        #expect(other.format == .tiff && other.width == most + 1)
        // Faster settings are enough to see that the largest size can be written.
        // The encoder of HEIC refuses this height.
        guard format != .heic else { return }
        let fitting = try develop(long, "crop=\(most)x2+0+0", "format=\(format.rawValue); effort=0")
        #expect(fitting.width == most)
    }
}
