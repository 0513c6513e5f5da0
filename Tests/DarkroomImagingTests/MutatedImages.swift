import CZlib
import DarkroomConcurrency
import DarkroomRecipes
import FuzzSupport

@testable import DarkroomImaging

/// Damaged small pictures of every format and of many kinds.
struct MutatedImages {
    /// A test case: a damaged file and the options to develop it with.
    struct Case {
        let format: ImageFormat
        let bytes: [UInt8]
        let options: DevelopOptions
        let route: Development.Route
    }

    /// Pictures with more pixels are refused, so that each case takes only milliseconds.
    private static let maxPixels = 1_000_000
    private let files: [(format: ImageFormat, bytes: [UInt8])]
    private let overlays: [Filter: [UInt8]]

    private static let watermark = Filter.parsed("watermark=image:mark.png,tile:yes,opacity:0.5")
    private static let chains: [[Filter]] =
        [[], [.standard], [.tiltShift(radius: 1)], [.standard, .standard], [watermark, .parsed("invert")]]
        + [
            "resize=20x", "resize=31x17,fit:contain,background:#12345678", "resize=9x9,gravity:attention sepia",
            "crop=10x10,gravity:entropy blur=2", "crop=20x15 flip", "trim rotate=33", "rotate=90 normalize",
            "extend=3,background:blur median=3", "duotone=navy,orange pixelate=4 vignette", "sharpen flop gamma=2",
        ].map { text in
            do { return try [PhotoFilter](parsing: text).builtIn } catch { preconditionFailure("\(error)") }
        }
    private static let settings: [PhotoEncoding] = [
        "format=jpeg", "format=jpeg", "format=png", "format=jpeg; metadata=none", "format=png; metadata=no-gps; srgb",
        "",
        "format=webp; effort=0", "format=gif; effort=0", "format=auto:gif,webp; effort=0; metadata=copyright,icc",
        "format=png; palette; progressive", "format=jpeg; max-bytes=900; srgb", "format=tiff; metadata=exif,no-gps",
        "format=auto:jpeg,png,webp; background=red", "format=jxl; effort=0; lossless",
        "progressive; chroma=420; quality=30",
    ].map { text in
        do { return try PhotoEncoding(parsing: text) } catch { preconditionFailure("\(error)") }
    }

    init() throws {
        let pixels = Pixels(width: 61, height: 43, bands: 3) { x, y, band in (x * 7 + y * 13 * (band + 1) + x * y) & 255
        }
        let grey = Pixels.gradient(width: 40, height: 33, bands: 1)
        let alpha = Pixels.gradient(width: 40, height: 33, bands: 4)
        let exif = JPEG.exif(orientation: 6, thumbnail: true)
        let profile = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + GreyProfile.linear
        var files: [(ImageFormat, [UInt8])] = JPEG.Kind.allCases.map { kind in
            (.jpeg, JPEG.file(kind == .grey ? grey : kind == .cmyk ? alpha : pixels, kind))
        }
        files.append((.jpeg, JPEG.inserting([(0xE1, exif), (0xE2, profile)], into: JPEG.file(grey, .grey))))
        files.append((.jpeg, JPEG.inserting([(0xE1, exif)], into: JPEG.file(pixels, .progressive))))
        files += [
            (.png, PNG.file(pixels)), (.png, PNG.file(grey)), (.png, PNG.file(alpha)),
            (.png, PNG.file(.gradient(width: 30, height: 20, bits: 16), chunks: [("eXIf", Array(exif.dropFirst(6)))])),
            (.tiff, TIFF.file(pixels, .rgb, orientation: 5)), (.tiff, TIFF.file(alpha, .cmyk)),
            (.tiff, TIFF.file(.gradient(width: 30, height: 20), .lab)),
            (
                .tiff,
                TIFF.file(.gradient(width: 30, height: 20, bands: 1, bits: 16), .grey, profile: GreyProfile.linear)
            ),
        ]
        let whole = JPEG.inserting([(0xE1, exif)], into: JPEG.file(pixels, .baseline))
        for format in [ImageFormat.webp, .gif, .heic, .tiff, .png, .avif, .jxl] {
            let made = try develop(whole, DevelopOptions(format: format)).bytes
            // If a format has only one file, the file is repeated, so that each format is chosen often enough.
            files += Array(repeating: (format, made), count: [.webp, .gif, .heic].contains(format) ? 4 : 1)
        }
        let transparent = PNG.file(alpha)
        files += [(.webp, try develop(transparent, DevelopOptions(format: .webp)).bytes)]
        files += [(.gif, try develop(transparent, DevelopOptions(format: .gif)).bytes)]
        let moving = GIF.file(
            width: 40, height: 30, palette: [[200, 40, 40], [40, 180, 60], [50, 60, 200]], delays: [100, 50, 20],
            loops: 2,
            frames: (0..<3).map { index in { x, y in (x / 9 + y / 7 + index) % 3 } })
        files += Array(repeating: (.gif, moving), count: 3)
        files += [(.webp, try develop(moving, "none", "format=webp", keepsAnimation: true).bytes)]
        let complete = EXIF.complete(bigEndian: false)
        let wide = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + MatrixProfile.p3
        files += [(.jpeg, JPEG.inserting([(0xE1, complete), (0xE2, wide)], into: JPEG.file(pixels, .baseline)))]
        self.files = files
        overlays = [Self.watermark: PNG.file(.gradient(width: 8, height: 5, bands: 4))]
    }

    /// The case for a seed; the same seed always gives the same case.
    func makeCase(_ seed: UInt64) -> Case {
        var mutator = ByteMutator(SeededGenerator(seed: seed))
        let (format, whole) = mutator.generator.pick(files)
        let other = mutator.generator.chance(50) ? whole : mutator.generator.pick(files).bytes
        var bytes = mutator.mutate(whole, with: other)
        if format == .png, mutator.generator.chance(80) { bytes = Self.withChecksums(bytes) }
        let count = mutator.generator.chance(25) ? 3 : 1
        let outputs = (0..<count).map { _ in
            ImageOutput(
                filters: mutator.generator.pick(Self.chains), encoding: mutator.generator.pick(Self.settings))
        }
        var options = DevelopOptions(outputs: outputs, maxPixels: Self.maxPixels)
        options.damage = mutator.generator.chance(40) ? .accept : .tolerate
        options.keepsAnimation = mutator.generator.chance(50)
        options.overlays = overlays
        let route: Development.Route = format == .jpeg && mutator.generator.chance(40) ? .withoutStrips : .usual
        return Case(format: format, bytes: bytes, options: options, route: route)
    }

    /// Develops the cases of these seeds. If a case crashes a decoder, the process ends.
    func run(_ seeds: Range<UInt64>, note: FuzzNote) {
        for seed in seeds {
            note.begin(seed, seconds: 20)
            let image = makeCase(seed)
            do throws(ImagingError) {
                for result in try developAll(image.bytes, image.options, by: image.route) {
                    let found = result.withUnsafeBytes { ContentType(of: $0) }
                    let isMoving = [.gif, .webp].contains(result.format)
                    let frames = isMoving ? max(1, Animation(result.bytes).delays.count) : 1
                    guard found == .image(result.format), result.width * result.height * frames <= Self.maxPixels
                    else {
                        throw ImagingError(
                            code: .cancelled, detail: "made \(found) of \(frames) x \(result.width) x \(result.height)")
                    }
                }
            } catch {
                precondition(error.code != .cancelled, "seed \(seed): \(error)")
            }
        }
        note.end(seeds.upperBound)
    }

    /// Corrects the checksums of the chunks of a PNG, so that decoders read the damaged content.
    private static func withChecksums(_ file: [UInt8]) -> [UInt8] {
        var file = file
        var offset = 8
        while offset + 12 <= file.count {
            let count = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 12 + count <= file.count else { break }
            let checked = Array(file[offset + 4..<offset + 8 + count])
            let sum = PNG.bigEndian(Int(crc32(0, checked, UInt32(checked.count))))
            file.replaceSubrange(offset + 8 + count..<offset + 12 + count, with: sum)
            offset += 12 + count
        }
        return file
    }
}
