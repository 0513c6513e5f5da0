/// A filter of a filter chain, written as `sepia=0.8` or `tilt-shift=radius:3`.
package enum Filter: Sendable, Equatable {
    /// Mixes the sepia matrix with weight `intensity`, 0 to 1, and the identity with weight 1 - `intensity`. Alpha is
    /// unchanged. See [Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent).
    case sepia(intensity: Double)
    /// Blurs the picture except at the middle of its height. The blur grows from there up and down, and is complete at
    /// a quarter of the height from the middle. `radius` is the standard deviation of the blur in pixels, 0.1 to 100.
    case tiltShift(radius: Double)

    /// The default filter.
    package static let standard = Filter.sepia(intensity: 0.8)

    private static let intensities = 0.0...1.0
    private static let radii = 0.1...100.0

    /// Parses `sepia`, `sepia=INTENSITY`, `tilt-shift` or `tilt-shift=radius:PIXELS`.
    ///
    /// The default intensity is 0.8, and the default radius is 3.
    package init(parsing text: String) throws(FilterSyntaxError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? parts[1] : nil
        switch parts[0] {
        case "sepia":
            let found = try Self.number(value ?? "0.8", in: Self.intensities, of: text, as: "sepia=0.8")
            self = .sepia(intensity: found)
        case "tilt-shift":
            let argument = value ?? "radius:3"
            guard argument.hasPrefix("radius:") else {
                throw FilterSyntaxError(filter: text, problem: "no radius; write it like tilt-shift=radius:3")
            }
            let found = try Self.number(
                argument.dropFirst("radius:".count), in: Self.radii, of: text, as: "tilt-shift=radius:3")
            self = .tiltShift(radius: found)
        default:
            throw FilterSyntaxError(filter: text, problem: "no such filter; use sepia or tilt-shift")
        }
    }

    private static func number(
        _ text: Substring, in range: ClosedRange<Double>, of filter: String, as example: String
    ) throws(FilterSyntaxError) -> Double {
        // Double would also accept "nan", "infinity" and hexadecimal numbers.
        let isDecimal = text.allSatisfy { $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }
        guard isDecimal, let number = Double(text), range.contains(number) else {
            let limits = "\(canonical(range.lowerBound)) to \(canonical(range.upperBound))"
            throw FilterSyntaxError(
                filter: filter, problem: "\"\(text)\" is not a number from \(limits); write it like \(example)")
        }
        return number.magnitude
    }

    fileprivate static func canonical(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Filter: CustomStringConvertible {
    /// The canonical text of the filter, which ``init(parsing:)`` accepts.
    package var description: String {
        switch self {
        case .sepia(let intensity): "sepia=\(Self.canonical(intensity))"
        case .tiltShift(let radius): "tilt-shift=radius:\(Self.canonical(radius))"
        }
    }
}

/// A chain of filters as text: `sepia=0.8,tilt-shift=radius:3`.
package enum FilterChain {
    /// Parses filters that are separated by commas. An empty text is an empty chain.
    package static func parse(_ text: String) throws(FilterSyntaxError) -> [Filter] {
        var filters: [Filter] = []
        guard !text.isEmpty else { return filters }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            filters.append(try Filter(parsing: String(part)))
        }
        return filters
    }

    /// The canonical text of a chain, which ``parse(_:)`` accepts.
    package static func text(_ filters: [Filter]) -> String {
        filters.map(\.description).joined(separator: ",")
    }
}

/// The error for a text that is not a valid filter.
package struct FilterSyntaxError: Error, Equatable, CustomStringConvertible {
    /// The given text.
    package let filter: String
    /// What is wrong with the text, and what to write.
    package let problem: String

    /// The filter, what is wrong with it, and what to write, in one line.
    package var description: String { "filter \"\(filter)\": \(problem)" }
}
