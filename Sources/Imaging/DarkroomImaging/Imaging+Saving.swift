internal import CImaging
import DarkroomRecipes

/// The formats that the installed libvips can write.
extension Imaging {
    /// Whether the installed libvips can write the format. The first call for a format writes a test picture.
    package static func canSave(_ format: ImageFormat) -> Bool {
        startError == nil && darkroom_imaging_can_save(format.c)
    }

    /// The first of the formats that the installed libvips cannot write, and what to install; nil if libvips can write
    /// all of them.
    package static func problem(
        saving formats: some Sequence<ImageFormat>, canSave: (ImageFormat) -> Bool = Imaging.canSave
    ) -> String? {
        guard let missing = formats.first(where: { !canSave($0) }) else { return nil }
        let advice =
            switch missing {
            // Debian 13 and Ubuntu 24.04 have the codecs of libheif in separate packages.
            case .avif: "install the AV1 encoder of libheif (in Debian and Ubuntu libheif-plugin-aomenc)"
            case .heic: "install the HEVC encoder of libheif (in Debian and Ubuntu libheif-plugin-x265)"
            case .jxl: "install a libvips that was built with libjxl (in Debian 12 and newer libvips42)"
            case .gif: "install a libvips that was built with cgif (in Debian 12 and newer libvips42)"
            case .jpeg, .png, .webp, .tiff: "install a libvips that was built with the library of this format"
            }
        return "libvips \(vipsVersion) cannot write \(missing.rawValue); \(advice)"
    }
}
