package struct DevelopOptions: Sendable, Equatable {
    /// The filters, applied in order.
    package var filters: [Filter]
    /// The output format; nil means the format of the input. If the installed libvips cannot write the format of the
    /// input, the output is JPEG, or PNG for a picture with alpha.
    package var format: ImageFormat?
    /// The quality for lossy formats, from 1 to 100. From 90 on, JPEG stores the colours in full resolution. A value
    /// outside the range is set to the nearest limit.
    package var quality: Int {
        didSet { quality = min(max(quality, 1), 100) }
    }
    /// Whether metadata and the colour profile are omitted.
    package var strip: Bool
    /// Pictures with more pixels are refused before decoding.
    package var maxPixels: Int
    /// The CPU time limit for a picture of up to 20 million pixels. For larger pictures, the limit grows in proportion
    /// to the number of pixels. Nil means no limit.
    package var processorTime: Duration?

    /// Above this number of pixels, the limit is longer than ``processorTime``. AVIF, the slowest format, takes about
    /// 15 s for a picture of this size.
    private static let usualPixels = 20_000_000

    /// The CPU time limit for a picture of this size; nil means no limit.
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
