import DarkroomTestSupport
import CImagingProbes
import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// The pixels of `resize`, compared with those of vips_thumbnail_buffer() with its kernel, Lanczos 3.
@Suite struct ThumbnailTests {
    struct Failed: Error {}

    static func thumbnail(
        _ file: [UInt8], _ width: Int, _ height: Int, _ fit: thumbnail_fit, linear: Bool = false, exact: Bool = false
    ) throws -> Pixels {
        try Imaging.start()
        var (png, count) = (UnsafeMutablePointer<UInt8>?.none, 0)
        let options = thumbnail_options(
            width: Int32(width), height: Int32(height), fit: fit, linear: linear, exact: exact)
        guard CImagingProbes.thumbnail(file, file.count, options, &png, &count) else { throw Failed() }
        defer { free(png) }
        return try PNG.pixels(of: UnsafeBufferPointer(start: png, count: count))
    }

    static func resized(_ file: [UInt8], _ filter: String) throws -> Pixels {
        try pixelsByVips(file, [.parsed("resize=" + filter)])
    }

    /// A photo of 300 x 200 pixels with all details; alpha has large areas that are transparent or opaque.
    static func photo(bands: Int = 3, bits: Int = 8) throws -> Pixels {
        let part = try pixelsByVips(TestFiles.sample("coffee.jpg"), [.parsed("crop=300x200")])
        precondition((part.width, part.height, part.bands) == (300, 200, 3))
        var values: [UInt16] = []
        for pixel in 0..<300 * 200 {
            let alpha = min(255, max(0, 2 * (pixel % 300 + pixel / 300) % 500 - 100))
            values += part.values[3 * pixel..<3 * pixel + (bands < 3 ? 1 : 3)]
            if bands % 2 == 0 { values.append(UInt16(alpha)) }
        }
        if bits == 16 { values = values.map { $0 * 257 } }
        return Pixels(width: 300, height: 200, bands: bands, bits: bits, values: values)
    }

    /// A grey photo with red, green and blue.
    static func greyInRGB(alpha: Bool) throws -> Pixels {
        let grey = try photo(bands: alpha ? 2 : 1)
        let bands = grey.bands
        let values = stride(from: 0, to: grey.values.count, by: bands).flatMap { start in
            let sample = grey.values[start]
            return [sample, sample, sample] + grey.values[start + 1..<start + bands]
        }
        return Pixels(width: 300, height: 200, bands: bands + 2, values: values)
    }

    /// The sizes: to 1/2, 1/3, 1/5, 1/10 and 1/30, and enlarged.
    private static let boxes = [(150, 150), (100, 67), (60, 60), (61, 44), (30, 30), (10, 10), (310, 320)]

    enum Kind: CaseIterable {
        case webp, jpeg, grey, rgb, wide, alpha, greyAlpha

        func file() throws -> [UInt8] {
            switch self {
            case .jpeg: JPEG.file(try photo(), .baseline)
            case .grey: PNG.file(try photo(bands: 1))
            case .rgb: PNG.file(try photo())
            case .wide: PNG.file(try photo(bits: 16))
            case .alpha: PNG.file(try photo(bands: 4))
            case .greyAlpha: PNG.file(try photo(bands: 2))
            case .webp: try develop(PNG.file(photo()), DevelopOptions(filters: [], format: .webp)).bytes
            }
        }
    }

    @Test(arguments: Kind.allCases, [false, true]) func fitsMatchThumbnail(kind: Kind, linear: Bool) throws {
        let file = try kind.file()
        // libvips ignores `linear` for grey photos, and lets libwebp scale WebP to the final size without the kernel. At
        // less than 1/4, Darkroom lets libwebp scale to a part.
        let isGrey = kind == .grey || kind == .greyAlpha
        var reference = file
        if isGrey && linear { reference = PNG.file(try Self.greyInRGB(alpha: kind == .greyAlpha)) }
        if kind == .webp { reference = PNG.file(try pixelsByVips(file, [.sepia(intensity: 0)])) }
        let boxes = Self.boxes.filter { kind != .webp || $0.0 >= 100 }
        for (width, height) in boxes {
            for (name, fit) in [
                ("inside", THUMBNAIL_INSIDE), ("outside", THUMBNAIL_OUTSIDE), ("fill", THUMBNAIL_FILL),
            ] {
                let text = "\(width)x\(height),\(name)\(linear ? ",linear:yes" : "")"
                // libvips makes 8-bit thumbnails of 16-bit photos, and its vector code rounds weights to 1/64.
                let expected = try Self.thumbnail(
                    reference, width, height, fit, linear: linear, exact: true
                ).visible
                let distance = try Self.resized(file, text).visible.distance(to: expected) ?? .max
                #expect(distance <= 2, "\(text)")
            }
        }
    }

    /// `cover` cuts the middle of `outside`, and `contain` places `inside` in the middle of the background.
    @Test func coverAndContainAreMadeOfTheOtherFits() throws {
        let file = PNG.file(try Self.photo())
        for (width, height) in [(200, 200), (77, 201), (333, 100)] {
            let cover = try Self.resized(file, "\(width)x\(height)")
            let outside = try Self.resized(file, "\(width)x\(height),outside")
            let (left, top) = ((outside.width - width + 1) / 2, (outside.height - height + 1) / 2)
            #expect(cover == outside.part(left, top, width, height))
            let contain = try Self.resized(file, "\(width)x\(height),contain,background:#ff8000")
            let inside = try Self.resized(file, "\(width)x\(height),inside")
            let (x, y) = ((width - inside.width) / 2, (height - inside.height) / 2)
            #expect((contain.width, contain.height) == (width, height))
            #expect(contain.part(x, y, inside.width, inside.height) == inside)
            #expect(contain[0, 0] == [255, 128, 0] && contain[width - 1, height - 1] == [255, 128, 0])
        }
    }

    @Test(arguments: Kind.allCases) func outputsOfOneDecodingAreThoseOfTheirOwn(kind: Kind) throws {
        let file = PNG.file(try pixelsByVips(kind.file(), [.sepia(intensity: 0)]))
        let sizes = [200, 75, 18]
        let outputs = try sizes.map { size in
            try ImageOutput(filters: [.parsed("resize=\(size)")], encoding: PhotoEncoding(parsing: "format=png"))
        }
        let together = try developAll(file, DevelopOptions(outputs: outputs)).map { try PNG.pixels(of: $0.bytes) }
        for (size, found) in zip(sizes, together) { #expect(try found == Self.resized(file, "\(size)"), "\(size) px") }
    }

    /// Rings whose frequency grows with the distance from the middle, up to half a cycle per pixel at the edges.
    private static let zonePlate = Pixels(width: 2000, height: 2000, bands: 1) { x, y, _ in
        let (dx, dy) = (Double(x) - 999.5, Double(y) - 999.5)
        return Int((127.5 + 127.5 * cos(.pi * (dx * dx + dy * dy) / 2000)).rounded())
    }

    /// The new sampling cannot show more than 300 / 2000 / 2 cycles per pixel, which begin 22.5 pixels from the middle. The
    /// kernel reduces the frequencies up to 1.6 times of that, so beyond them the result must be grey.
    @Test(arguments: [false, true]) func zonePlateHasNoAliases(isJPEG: Bool) throws {
        let file = isJPEG ? JPEG.file(Self.zonePlate, .grey) : PNG.file(Self.zonePlate)
        let small = try Self.resized(file, "300x300")
        let nearest = try Self.resized(file, "300x300,kernel:nearest")
        let (contrast, largest) = Self.contrast(small)
        // libvips averages whole pixels before it uses the kernel; at most 26 steps of 128 remain where frequencies are
        // multiples of the averaged pixels.
        #expect(contrast < 4 && largest < 26, "\(contrast), \(largest)")
        #expect(Self.contrast(nearest).0 > 80, "the measure does not see aliases")
        #expect(try small.distance(to: Self.thumbnail(file, 300, 300, THUMBNAIL_INSIDE, exact: true)) ?? .max <= 2)
    }

    /// The root mean square and the largest distance from grey outside of the frequencies that can be shown, without the
    /// edges, where the kernel uses repeated pixels.
    private static func contrast(_ pixels: Pixels) -> (Double, Double) {
        var (sum, count, largest) = (0.0, 0.0, 0.0)
        for y in 4..<296 {
            for x in 4..<296 {
                let (dx, dy) = (Double(x) - 149.5, Double(y) - 149.5)
                guard (dx * dx + dy * dy).squareRoot() > 22.5 * 1.6 else { continue }
                let difference = abs(Double(pixels.values[y * 300 + x]) - 127.5)
                (sum, count, largest) = (sum + difference * difference, count + 1, max(largest, difference))
            }
        }
        return ((sum / count).squareRoot(), largest)
    }
}

extension Pixels {
    func part(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Pixels {
        Pixels(width: width, height: height, bands: bands, bits: bits) { column, row, band in
            self[x + column, y + row][band]
        }
    }
}
