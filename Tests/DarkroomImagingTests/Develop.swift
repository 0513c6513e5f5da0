import DarkroomTestSupport
import CImaging
import CImagingProbes
import DarkroomRecipes
import Foundation

@testable import DarkroomImaging

/// Develops `bytes`; `.withoutStrips` uses only libvips. Returns the only output.
func develop(
    _ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions(), by route: Development.Route = .usual
) throws(ImagingError) -> ImageFile {
    try developAll(bytes, options, by: route)[0]
}

/// Develops `bytes`. Returns all outputs.
func developAll(
    _ bytes: [UInt8], _ options: DevelopOptions, by route: Development.Route = .usual
) throws(ImagingError) -> [ImageFile] {
    try bytes.withBytes { bytes throws(ImagingError) in
        try Imaging.withDecoder(bytes, options, isCancelled: { false }) { decoder throws(ImagingError) in
            try Development(decoder: decoder, photo: bytes, options: options, route: route).run()
        }
    }
}

/// The photo and a file that was developed from it, side by side.
func compared(
    _ photo: [UInt8], _ developed: ImageFile, damage: DamageLevel
) throws(ImagingError) -> ImageFile {
    try developed.withUnsafeBytes { developed throws(ImagingError) in
        try Imaging.compare(photo, with: developed, damage: damage)
    }
}

/// The pixels before encoding, developed strip by strip.
func pixelsByStrips(_ bytes: [UInt8], _ filters: [Filter]) throws -> Pixels {
    let options = DevelopOptions(filters: filters)
    let image = try bytes.withBytes { bytes throws(ImagingError) in
        try Imaging.withDecoder(bytes, options, isCancelled: { false }) { decoder throws(ImagingError) in
            var file = darkroom_file()
            try decoder.session.check(
                decoder.withStripsJobs(options.outputs) { strip_pixels(decoder.session.c, $0, $1, &file) })
            return ImageFile(file)
        }
    }
    let values = image.withUnsafeBytes { bytes in
        bytes.enumerated().filter { $0.offset % 4 != 3 }.map { UInt16($0.element) }
    }
    return Pixels(width: image.width, height: image.height, bands: 3, values: values)
}

/// The pixels before encoding, developed by libvips; PNG stores them without loss.
func pixelsByVips(_ bytes: [UInt8], _ filters: [Filter]) throws -> Pixels {
    try PNG.pixels(of: develop(bytes, DevelopOptions(filters: filters, format: .png), by: .withoutStrips).bytes)
}

extension Filter {
    static func sepia(intensity: Double) -> Filter { parsed("sepia=\(intensity)") }
    static func tiltShift(radius: Double) -> Filter { parsed("tilt-shift=radius:\(radius)") }

    /// A filter from a valid text.
    static func parsed(_ text: String) -> Filter {
        do { return try Filter(parsing: text) } catch { preconditionFailure("\(error)") }
    }
}

extension ImageFile {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// The files that tests read.
enum Samples {
    /// A photo of Fixtures/Cases, each of which once came out wrong.
    static func photoCase(_ name: String) throws -> [UInt8] {
        try TestFiles.fixture("Cases/\(name)")
    }

    static let jpegs = [
        "astronaut", "chelsea", "china", "coffee", "flower", "grace_hopper", "hubble_deep_field", "rocket",
    ].map { "\($0).jpg" }

    /// The lossless pictures of the Kodak suite, whose licence does not allow a copy in this repository.
    static let kodak = TestFiles.package.deletingLastPathComponent().appending(path: "shared/photos/kodak")
    static var hasKodak: Bool { FileManager.default.fileExists(atPath: kodak.path) }
}

/// Develops `bytes` through a filter chain with encoding settings, both as text.
func develop(
    _ bytes: [UInt8], _ chain: String, _ settings: String = "", keepsAnimation: Bool = false,
    damage: DamageLevel = .tolerate, maxPixels: Int = 100_000_000
) throws -> ImageFile {
    let filters = try [PhotoFilter](parsing: chain).builtIn
    let output = ImageOutput(filters: filters, encoding: try PhotoEncoding(parsing: settings))
    var options = DevelopOptions(outputs: [output], maxPixels: maxPixels)
    options.keepsAnimation = keepsAnimation
    options.damage = damage
    return try develop(bytes, options)
}

/// The decoded pixels of a file of any format.
func decoded(_ bytes: [UInt8]) throws -> Pixels {
    try PNG.pixels(of: develop(bytes, "sepia=0", "format=png; effort=1").bytes)
}
