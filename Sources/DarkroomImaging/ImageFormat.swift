/// A format that Darkroom reads. Darkroom also writes it if the installed libvips supports that.
package enum ImageFormat: String, Sendable, CaseIterable {
    /// JPEG, ISO 10918.
    case jpeg
    /// Portable Network Graphics.
    case png
    /// WebP. Of an animation, only the first frame is read.
    case webp
    /// HEIF with AV1.
    case avif
    /// HEIF with HEVC.
    case heic
    /// JPEG XL, ISO 18181.
    case jxl
    /// TIFF. Only the first page is read.
    case tiff
    /// GIF. Only the first frame is read.
    case gif

    /// The file name extension of this format, without the dot.
    package var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .tiff: "tif"
        default: rawValue
        }
    }
}

extension ImageFormat {
    /// Detects the format of a file from its first bytes. Returns nil for unsupported formats.
    package init?(contentOf bytes: UnsafeRawBufferPointer) {
        guard case .image(let format) = ContentType(of: bytes) else { return nil }
        self = format
    }
}
