import DarkroomRecipes

/// A step of the filter chain of a batch: a filter, or a custom filter of a worker.
///
/// `darkroom filters` lists the filters and their arguments.
public struct PhotoFilter: Sendable, Hashable, CustomStringConvertible {
    /// The filter as text on the command line and in Redis, for example `sepia=0.8` or `resize=800x600,fit:inside`.
    public let description: String

    /// Creates a filter from its text. The text is checked when the batch is submitted.
    public init(_ text: String) { description = text }

    /// Blends each photo with a sepia version of it. Alpha is unchanged. See
    /// [Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent).
    /// - Parameter intensity: the share of the sepia version in the result, 0 to 1.
    public static func sepia(intensity: Double = 0.8) -> PhotoFilter { PhotoFilter("sepia=\(intensity)") }

    /// Blurs each photo by an amount that increases with the distance from the middle of its height. At distances above
    /// a quarter of the height, the amount is constant.
    /// - Parameter radius: the standard deviation of the blur in pixels, 0.1 to 100.
    public static func tiltShift(radius: Double = 3) -> PhotoFilter { PhotoFilter("tilt-shift=radius:\(radius)") }

    /// Scales each photo so that it fits into a size. Smaller photos are not enlarged.
    public static func resize(within width: Int, by height: Int) -> PhotoFilter {
        PhotoFilter("resize=\(width)x\(height),inside,enlarge:no")
    }

    /// A custom filter, which workers have registered under `name`.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - arguments: a text for the filter, see ``DownloadedPhoto/arguments``: at most 4,096 bytes, without control
    ///     characters. An invalid name or text is refused when the batch is submitted.
    public static func custom(_ name: String, arguments: String = "") -> PhotoFilter {
        guard CustomStep.isName(name), CustomStep.areArguments(arguments) else {
            return PhotoFilter(CustomStep.prefix + name + (arguments.isEmpty ? "" : "=" + arguments))
        }
        return PhotoFilter(CustomStep(name: name, arguments: arguments).description)
    }
}

extension [PhotoFilter] {
    /// The text of the chain, as it is stored in Redis; `none` without filters.
    package var text: String { isEmpty ? "none" : map(\.description).joined(separator: " ") }

    /// The steps of a chain.
    package init(_ chain: FilterChain) { self = chain.steps.map { PhotoFilter($0.description) } }

    /// The filters in the options of a batch in Redis. A newer version of Darkroom may have added filters; then the
    /// whole text is one filter, which no worker of this version accepts.
    init(stored text: String) {
        do throws(ChainSyntaxError) {
            self.init(try FilterChain(parsing: text))
        } catch {
            self = [PhotoFilter(text)]
        }
    }

    /// - Throws: ``ChainSyntaxError`` if a filter is invalid.
    package func chain() throws(ChainSyntaxError) -> FilterChain { try FilterChain(parsing: text) }
}
