/// A filter for the photos of a batch: an image filter, or a custom operation, which replaces all filters.
public struct PhotoFilter: Sendable, Hashable, CustomStringConvertible {
    /// The filter as text on the command line and in Redis, for example `sepia=0.8` or `tilt-shift=radius:3`.
    public let description: String

    /// A filter from the options of a batch in Redis. A newer version of Darkroom may have added this filter.
    package init(stored text: String) { description = text }

    /// Blends each photo with a sepia version of it. Alpha is unchanged. See
    /// [Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent).
    /// - Parameter intensity: the share of the sepia version in the result, 0 to 1.
    public static func sepia(intensity: Double = 0.8) -> PhotoFilter { PhotoFilter(stored: "sepia=\(intensity)") }

    /// Blurs each photo by an amount that increases with the distance from the middle of its height. At distances above
    /// a quarter of the height, the amount is constant.
    /// - Parameter radius: the standard deviation of the blur in pixels, 0.1 to 100.
    public static func tiltShift(radius: Double = 3) -> PhotoFilter {
        PhotoFilter(stored: "tilt-shift=radius:\(radius)")
    }

    /// A custom operation, which workers have registered under `name`. It must be the only filter of its batch.
    /// - Parameter name: 1 to 64 ASCII letters, digits, `_` and `-`.
    public static func custom(_ name: String) -> PhotoFilter { PhotoFilter(stored: CustomFilter.prefix + name) }
}

extension [PhotoFilter] {
    /// The filters, separated by spaces, as they are stored in Redis.
    package var text: String { map(\.description).joined(separator: " ") }
}
