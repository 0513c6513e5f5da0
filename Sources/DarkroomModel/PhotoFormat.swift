/// The format of the files that a batch writes.
public struct PhotoFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name: `same`, `jpeg`, `png`, ...
    public let name: String

    /// A format as a batch's options have it in Redis, which may be one that this version does not know.
    package init(stored name: String) { self.name = name }

    /// The format that was read.
    public static let same = PhotoFormat(stored: "same")
    /// JPEG; `quality` holds.
    public static let jpeg = PhotoFormat(stored: "jpeg")
    /// PNG.
    public static let png = PhotoFormat(stored: "png")
    /// WebP; `quality` holds.
    public static let webp = PhotoFormat(stored: "webp")
    /// AVIF; `quality` holds. Workers whose libvips cannot write it leave such batches to others; so with HEIC and JPEG XL.
    public static let avif = PhotoFormat(stored: "avif")
    /// HEIC; `quality` holds.
    public static let heic = PhotoFormat(stored: "heic")
    /// JPEG XL; `quality` holds.
    public static let jxl = PhotoFormat(stored: "jxl")
    /// TIFF.
    public static let tiff = PhotoFormat(stored: "tiff")
    /// GIF.
    public static let gif = PhotoFormat(stored: "gif")

    /// The name.
    public var description: String { name }
}
