/// A format that Darkroom reads, and writes if the installed libvips supports it.
package enum ImageFormat: String, Sendable, CaseIterable {
    /// ISO 10918.
    case jpeg
    /// Portable Network Graphics.
    case png
    /// Google's WebP; the first frame of an animation.
    case webp
    /// HEIF with AV1.
    case avif
    /// HEIF with HEVC.
    case heic
    /// JPEG XL, ISO 18181.
    case jxl
    /// The first page of a TIFF.
    case tiff
    /// The first frame of a GIF.
    case gif

    /// The file extension of this format, without the dot.
    package var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .tiff: "tif"
        default: rawValue
        }
    }
}

extension ImageFormat {
    /// The format of a file, detected from its first bytes; nil for unsupported formats.
    package init?(contentOf bytes: UnsafeRawBufferPointer) {
        guard case .image(let format) = ContentType(of: bytes) else { return nil }
        self = format
    }
}
