import CImaging
import Foundation

@testable import DarkroomImaging

/// The two implementations that develop a JPEG.
enum Route: CaseIterable {
    case usual, vips
}

/// Develops `bytes`; `.vips` uses only libvips.
func develop(
    _ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions(), by route: Route = .usual
) throws(ImagingError) -> DevelopedImage {
    try bytes.withBytes { bytes throws(ImagingError) in
        try Imaging.run(
            route == .usual ? darkroom_develop : darkroom_develop_by_vips, bytes, options, isCancelled: { false })
    }
}

/// The pixels before encoding, developed strip by strip.
func pixelsByStrips(_ bytes: [UInt8], _ filters: [Filter]) throws -> Pixels {
    let image = try bytes.withBytes { bytes throws(ImagingError) in
        try Imaging.run(darkroom_strip_pixels, bytes, DevelopOptions(filters: filters), isCancelled: { false })
    }
    let values = image.withUnsafeBytes { bytes in
        bytes.enumerated().filter { $0.offset % 4 != 3 }.map { UInt16($0.element) }
    }
    return Pixels(width: image.width, height: image.height, bands: 3, values: values)
}

/// The pixels before encoding, developed by libvips; PNG stores them without loss.
func pixelsByVips(_ bytes: [UInt8], _ filters: [Filter]) throws -> Pixels {
    try PNG.pixels(of: develop(bytes, DevelopOptions(filters: filters, format: .png), by: .vips).bytes)
}

extension DevelopedImage {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// The files that tests read.
enum Samples {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    static func sample(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: tests.appending(path: "Samples/\(name)")))
    }

    static let jpegs = [
        "astronaut", "chelsea", "china", "coffee", "flower", "grace_hopper", "hubble_deep_field", "rocket",
    ].map { "\($0).jpg" }

    /// The lossless pictures of the Kodak suite, whose licence does not allow a copy in this repository.
    static let kodak = tests.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "shared/photos/kodak")
    static var hasKodak: Bool { FileManager.default.fileExists(atPath: kodak.path) }
}
