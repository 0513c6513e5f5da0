import Foundation

/// The colour filters in double precision, from the text of
/// [Filter Effects](https://www.w3.org/TR/filter-effects-1/#ShorthandEquivalents) and of the documentation. Uses no code
/// of Darkroom. Colours in the texts must be written as `#rrggbb`.
struct ColourReference {
    /// Red, green and blue of all pixels, 0 to 1.
    private(set) var planes: [[Double]]
    private let top: Double

    /// - Parameter input: Grey or RGB; alpha is ignored.
    init(_ input: Pixels) {
        let top = input.top
        self.top = top
        planes = (0..<3).map { plane in
            stride(from: input.colourBands == 3 ? plane : 0, to: input.values.count, by: input.bands)
                .map { Double(input.values[$0]) / top }
        }
    }

    /// Applies filters such as `sepia=0.8`. Values are clamped after each filter, and are not rounded.
    mutating func apply(_ filters: [String]) {
        for filter in filters {
            let parts = filter.split(separator: "=")
            let arguments = parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : []
            apply(String(parts[0]), arguments)
        }
    }

    /// The largest distance of the colours of `output`, in steps of its samples.
    func distance(to output: Pixels) -> Double {
        var largest = 0.0
        for band in 0..<output.colourBands {
            let plane = planes[band]
            for pixel in plane.indices {
                largest = max(largest, abs(Double(output.values[pixel * output.bands + band]) - plane[pixel] * top))
            }
        }
        return largest
    }

    private mutating func apply(_ name: String, _ arguments: [String]) {
        let numbers = arguments.compactMap(Double.init)
        let amount = numbers.first ?? 1
        let rest = 1 - amount
        switch name {
        case "sepia":
            multiply([
                [0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest],
                [0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest],
                [0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest],
            ])
        case "grayscale":
            multiply([
                [0.2126 + 0.7874 * rest, 0.7152 - 0.7152 * rest, 0.0722 - 0.0722 * rest],
                [0.2126 - 0.2126 * rest, 0.7152 + 0.2848 * rest, 0.0722 - 0.0722 * rest],
                [0.2126 - 0.2126 * rest, 0.7152 - 0.7152 * rest, 0.0722 + 0.9278 * rest],
            ])
        case "saturate":
            multiply([
                [0.213 + 0.787 * amount, 0.715 - 0.715 * amount, 0.072 - 0.072 * amount],
                [0.213 - 0.213 * amount, 0.715 + 0.285 * amount, 0.072 - 0.072 * amount],
                [0.213 - 0.213 * amount, 0.715 - 0.715 * amount, 0.072 + 0.928 * amount],
            ])
        case "hue-rotate":
            let (c, s) = (cos(amount * .pi / 180), sin(amount * .pi / 180))
            multiply([
                [0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928],
                [0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283],
                [0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715, 0.072 + c * 0.928 + s * 0.072],
            ])
        case "invert": transfer { amount + $0 * (rest - amount) }
        case "brightness": transfer { $0 * amount }
        case "contrast": transfer { $0 * amount - 0.5 * amount + 0.5 }
        case "gamma": transfer { pow($0, 1 / amount) }
        case "tint":
            let share = numbers.first ?? 1
            mix(from: [0, 0, 0], to: Self.colour(arguments[0]), share)
        case "duotone": mix(from: Self.colour(arguments[0]), to: Self.colour(arguments[1]), 1)
        case "matrix":
            let columns = numbers.count / 3
            multiply((0..<3).map { Array(numbers[$0 * columns..<($0 + 1) * columns]) })
        case "normalize":
            let percents = numbers + (numbers.isEmpty ? [1, 99] : [])
            normalize(percents[0] / 100, percents[1] / 100)
        default: preconditionFailure("there is no reference for \(name)")
        }
    }

    private static func colour(_ text: String) -> [Double] {
        let digits = Array(text.dropFirst())
        return (0..<3).map { Double(Int(String(digits[2 * $0..<2 * $0 + 2]), radix: 16) ?? 0) / 255 }
    }

    private static func clamp(_ value: Double) -> Double { min(max(value, 0), 1) }

    private mutating func transfer(_ function: (Double) -> Double) {
        for plane in 0..<3 { planes[plane] = planes[plane].map { Self.clamp(function($0)) } }
    }

    /// Multiplies by rows of three factors and possibly a constant.
    private mutating func multiply(_ rows: [[Double]]) {
        let (r, g, b) = (planes[0], planes[1], planes[2])
        planes = rows.map { row in
            let constant = row.count > 3 ? row[3] : 0
            return r.indices.map { Self.clamp(row[0] * r[$0] + row[1] * g[$0] + row[2] * b[$0] + constant) }
        }
    }

    private var luminance: [Double] {
        planes[0].indices.map { 0.2126 * planes[0][$0] + 0.7152 * planes[1][$0] + 0.0722 * planes[2][$0] }
    }

    private mutating func mix(from dark: [Double], to light: [Double], _ share: Double) {
        let luminance = luminance
        for plane in 0..<3 {
            planes[plane] = luminance.indices.map { pixel in
                let toned = dark[plane] + luminance[pixel] * (light[plane] - dark[plane])
                return Self.clamp(share * toned + (1 - share) * planes[plane][pixel])
            }
        }
    }

    /// The levels are those of the pixels that the earlier filters give, without rounding.
    private mutating func normalize(_ lower: Double, _ upper: Double) {
        let sorted = luminance.sorted()
        let last = sorted.count - 1
        let low = sorted[min(Int(lower * Double(sorted.count) + 1e-6), last)]
        let high = sorted[last - min(Int((1 - upper) * Double(sorted.count) + 1e-6), last)]
        if high > low { transfer { ($0 - low) / (high - low) } }
    }
}
