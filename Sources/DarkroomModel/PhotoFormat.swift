/// The format of the files that a batch writes.
public struct PhotoFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name: `same`, `jpeg`, `png`, ...
    public let name: String

    /// A format from a batch's options in Redis. A newer version may have added it.
    package init(stored name: String) { self.name = name }

    /// The format of the downloaded photo.
    public static let same = PhotoFormat(stored: "same")
    /// JPEG; uses `quality`.
    public static let jpeg = PhotoFormat(stored: "jpeg")
    /// PNG.
    public static let png = PhotoFormat(stored: "png")
    /// WebP; uses `quality`.
    public static let webp = PhotoFormat(stored: "webp")
    /// AVIF; uses `quality`. A worker whose libvips cannot write AVIF refuses the batch. The same applies to HEIC and JPEG XL.
    public static let avif = PhotoFormat(stored: "avif")
    /// HEIC; uses `quality`.
    public static let heic = PhotoFormat(stored: "heic")
    /// JPEG XL; uses `quality`.
    public static let jxl = PhotoFormat(stored: "jxl")
    /// TIFF.
    public static let tiff = PhotoFormat(stored: "tiff")
    /// GIF.
    public static let gif = PhotoFormat(stored: "gif")

    /// The name.
    public var description: String { name }
}
