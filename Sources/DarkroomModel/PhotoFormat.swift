/// The format of the files that a batch writes.
public struct PhotoFormat: Sendable, Hashable, CustomStringConvertible {
    /// The name of the format, for example `same`, `jpeg` or `png`.
    public let name: String

    /// A format from the options of a batch in Redis. A newer version of Darkroom may have added this format.
    package init(stored name: String) { self.name = name }

    /// The same format as the downloaded photo.
    public static let same = PhotoFormat(stored: "same")
    /// JPEG, with the quality ``BatchOptions/quality``.
    public static let jpeg = PhotoFormat(stored: "jpeg")
    /// PNG.
    public static let png = PhotoFormat(stored: "png")
    /// WebP, with the quality ``BatchOptions/quality``.
    public static let webp = PhotoFormat(stored: "webp")
    /// AVIF, with the quality ``BatchOptions/quality``. A worker whose libvips cannot write AVIF refuses the batch. The
    /// same applies to HEIC and JPEG XL.
    public static let avif = PhotoFormat(stored: "avif")
    /// HEIC, with the quality ``BatchOptions/quality``.
    public static let heic = PhotoFormat(stored: "heic")
    /// JPEG XL, with the quality ``BatchOptions/quality``.
    public static let jxl = PhotoFormat(stored: "jxl")
    /// TIFF.
    public static let tiff = PhotoFormat(stored: "tiff")
    /// GIF.
    public static let gif = PhotoFormat(stored: "gif")

    /// The name.
    public var description: String { name }
}
