/// What to make of a picture.
public struct DevelopOptions: Sendable, Equatable {
    /// The filters, applied in order.
    public var filters: [Filter]
    /// The format to write; nil is the one that was read, or JPEG (PNG with alpha) where the installed libvips cannot
    /// write that.
    public var format: ImageFormat?
    /// 1 to 100, for the formats that lose something; from 90 on JPEG keeps colour in full resolution.
    public var quality: Int
    /// Leaves metadata and colour profile out.
    public var strip: Bool
    /// Pictures of more pixels are refused before anything of them is decoded.
    public var maxPixels: Int

    /// Options with the usual values; a quality outside of 1 to 100 is brought there.
    public init(
        filters: [Filter] = [.standard], format: ImageFormat? = nil, quality: Int = 85, strip: Bool = false,
        maxPixels: Int = 100_000_000
    ) {
        self.filters = filters
        self.format = format
        self.quality = min(max(quality, 1), 100)
        self.strip = strip
        self.maxPixels = maxPixels
    }
}
