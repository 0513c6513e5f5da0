package struct DevelopOptions: Sendable, Equatable {
    /// The filters, applied in order.
    package var filters: [Filter]
    /// The format to write; nil: the format of the input. If the installed libvips cannot write that format, JPEG, or
    /// PNG for pictures with alpha.
    package var format: ImageFormat?
    /// The quality for lossy formats, 1 to 100. From 90 on, JPEG stores colour in full resolution. Values outside the
    /// range are set to its nearer end.
    package var quality: Int {
        didSet { quality = min(max(quality, 1), 100) }
    }
    /// Whether to omit metadata and the colour profile.
    package var strip: Bool
    /// Pictures with more pixels are refused before decoding.
    package var maxPixels: Int
    /// The limit of processor time for a picture of up to 20 million pixels. For larger pictures, the limit grows in
    /// proportion. Nil: no limit.
    package var processorTime: Duration?

    /// The size up to which the limit is ``processorTime``. The slowest encoder, AVIF, takes about 15 s for this size.
    private static let usualPixels = 20_000_000

    /// The limit of processor time for a picture of this size; nil: no limit.
    package func processorTime(pixels: Int) -> Duration? {
        processorTime.map { pixels > Self.usualPixels ? $0 * (Double(pixels) / Double(Self.usualPixels)) : $0 }
    }

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
