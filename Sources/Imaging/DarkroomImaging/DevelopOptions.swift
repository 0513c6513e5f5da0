import DarkroomRecipes

package struct DevelopOptions: Sendable, Equatable {
    /// The files that are made of the photo, at least one.
    package var outputs: [ImageOutput]
    /// Maps each watermark filter to the bytes of its picture file.
    package var overlays: [Filter: [UInt8]] = [:]
    /// What happens to photos with defects.
    package var damage = DamageLevel.tolerate
    /// Whether all frames of an animation are kept if the output is GIF or WebP; otherwise only the first is used.
    package var keepsAnimation = false
    /// Pictures with more pixels are rejected before decoding. Filters must not make larger pictures.
    package var maxPixels: Int
    /// The limit for pictures that are never completely in memory, because the decoder makes them smaller or because
    /// they are developed in strips. At least ``maxPixels``.
    package var maxStreamedPixels: Int

    /// The default of ``maxPixels``.
    package static let standardMaxPixels = 100_000_000
    /// The default of ``maxStreamedPixels`` if ``maxPixels`` has its default.
    package static let standardMaxStreamedPixels = 1_000_000_000
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

    /// - Parameter maxPixels: The limit for all pictures, also for those that are never completely in memory; nil for
    ///   the default limits.
    package init(outputs: [ImageOutput], maxPixels: Int? = nil, processorTime: Duration? = nil) {
        self.outputs = outputs
        self.maxPixels = maxPixels ?? Self.standardMaxPixels
        maxStreamedPixels = maxPixels ?? Self.standardMaxStreamedPixels
        self.processorTime = processorTime
    }

    /// Options for one output, for measurements and tests.
    package init(
        filters: [Filter] = [.standard], format: ImageFormat? = nil, quality: Int? = nil, strip: Bool = false,
        maxPixels: Int? = nil, processorTime: Duration? = nil
    ) {
        var encoding = PhotoEncoding()
        encoding.format = format.map { .fixed($0) }
        encoding.quality = quality.map { min(max($0, 1), 100) }
        encoding.metadata = strip ? MetadataSelection.none : nil
        self.init(
            outputs: [ImageOutput(filters: filters, encoding: encoding)], maxPixels: maxPixels,
            processorTime: processorTime)
    }
}

extension Filter {
    /// The filter of measurements and tests that do not name a filter: sepia with its default amount.
    package static var standard: Filter { PhotoFilter.sepia().builtIn! }  // the default amount is in its range
}
