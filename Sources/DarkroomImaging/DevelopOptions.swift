/// What to make of a picture.
package struct DevelopOptions: Sendable, Equatable {
    /// The filters, applied in order.
    package var filters: [Filter]
    /// The format to write; nil is the one that was read, or JPEG (PNG with alpha) where the installed libvips cannot
    /// write that.
    package var format: ImageFormat?
    /// 1 to 100, for the formats that lose something; from 90 on JPEG keeps colour in full resolution. A number outside of
    /// that range counts as the nearer end of it.
    package var quality: Int {
        didSet { quality = min(max(quality, 1), 100) }
    }
    /// Leaves metadata and colour profile out.
    package var strip: Bool
    /// Pictures of more pixels are refused before anything of them is decoded.
    package var maxPixels: Int
    /// The processor time for a picture of up to 20 million pixels; larger pictures get more in proportion. Nil sets no limit.
    package var processorTime: Duration?

    /// The size up to which pictures have ``processorTime`` and no more: the slowest encoder, AVIF, takes about 15 s for it.
    private static let usualPixels = 20_000_000

    /// The processor time for a picture of this size; nil sets no limit.
    package func processorTime(pixels: Int) -> Duration? {
        processorTime.map { pixels > Self.usualPixels ? $0 * (Double(pixels) / Double(Self.usualPixels)) : $0 }
    }

    /// Options with the usual values; a quality outside of 1 to 100 is brought there.
    package init(
        filters: [Filter] = [.standard], format: ImageFormat? = nil, quality: Int = 85, strip: Bool = false,
        maxPixels: Int = 100_000_000, processorTime: Duration? = nil
    ) {
        self.filters = filters
        self.format = format
        self.quality = min(max(quality, 1), 100)
        self.strip = strip
        self.maxPixels = maxPixels
        self.processorTime = processorTime
    }
}
