/// A filter of a filter chain, written as `sepia=0.8` or `tilt-shift=radius:3`.
package enum Filter: Sendable, Equatable {
    /// Applies a mix of two matrices: sepia with the weight `intensity`, 0 to 1, and identity with the weight 1 -
    /// `intensity`. Alpha is unchanged. See
    /// [Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent).
    case sepia(intensity: Double)
    /// Blurs the picture except at the middle of its height. The blur grows with the distance from the middle, up to a
    /// distance of a quarter of the height. `radius` is the standard deviation of the blur in pixels, 0.1 to 100.
    case tiltShift(radius: Double)

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

    private static func canonical(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Filter: CustomStringConvertible {
    package var description: String {
        switch self {
        case .sepia(let intensity): "sepia=\(Self.canonical(intensity))"
        case .tiltShift(let radius): "tilt-shift=radius:\(Self.canonical(radius))"
        }
    }
}

package struct FilterSyntaxError: Error, Equatable, CustomStringConvertible {
    package let filter: String
    package let problem: String

    package var description: String { "filter \"\(filter)\": \(problem)" }
}
