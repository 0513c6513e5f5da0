/// A format that Darkroom reads, and also writes if the installed libvips can write it.
package enum ImageFormat: String, Sendable, CaseIterable {
    /// JPEG, ISO 10918.
    case jpeg
    /// Portable Network Graphics.
    case png
    /// WebP, possibly animated.
    case webp
    /// HEIF with AV1.
    case avif
    /// HEIF with HEVC.
    case heic
    /// JPEG XL, ISO 18181.
    case jxl
    /// TIFF. Only the first page is read.
    case tiff
    /// GIF, possibly animated.
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

// MARK: - Endings that users write

extension ImageFormat {
    /// Other file name extensions that users may write for a format. Generated file names do not use these extensions.
    package static let otherEndings: [String: ImageFormat] = ["jpeg": .jpeg, "tiff": .tiff, "heif": .heic]

    /// All file name extensions, without the dot.
    package static var endings: [String] {
        allCases.flatMap { format in
            [format.fileExtension] + otherEndings.filter { $0.value == format }.map(\.key).sorted()
        }
    }

    /// The format with this file name extension, in upper or lower case; nil if there is none.
    package init?(ending: String) {
        let ending = ending.lowercased()
        guard let format = Self.allCases.first(where: { $0.fileExtension == ending }) ?? Self.otherEndings[ending]
        else { return nil }
        self = format
    }
}
