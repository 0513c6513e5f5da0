/// A filter for each photo of a batch: an image filter, or a custom operation that replaces all filters.
public struct PhotoFilter: Sendable, Hashable, CustomStringConvertible {
    /// The filter as text, in the command line and in Redis: `sepia=0.8`, `tilt-shift=radius:3`, `x:thumbnail`.
    public let description: String

    /// A filter from a batch's options in Redis. A newer version may have added it.
    package init(stored text: String) { description = text }

    /// Blends each photo with its sepia version
    /// ([Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent)). Alpha is unchanged.
    /// - Parameter intensity: the share of the sepia version, 0 to 1.
    public static func sepia(intensity: Double = 0.8) -> PhotoFilter { PhotoFilter(stored: "sepia=\(intensity)") }

    /// Blurs each photo increasingly with the distance from the middle of its height. The blur is complete from a quarter of the
    /// height on.
    /// - Parameter radius: the standard deviation of the blur in pixels, 0.1 to 100.
    public static func tiltShift(radius: Double = 3) -> PhotoFilter {
        PhotoFilter(stored: "tilt-shift=radius:\(radius)")
    }

    /// The custom operation that workers have registered under a name. It must be the only filter of its batch.
    /// - Parameter name: 1 to 64 ASCII letters, digits, `_` and `-`.
    public static func custom(_ name: String) -> PhotoFilter { PhotoFilter(stored: CustomFilter.prefix + name) }
}

extension [PhotoFilter] {
    /// The filters with a space between them, the form in Redis.
    package var text: String { map(\.description).joined(separator: " ") }
}
