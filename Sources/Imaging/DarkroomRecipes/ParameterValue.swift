/// The value of a parameter of a filter.
package enum ParameterValue: Sendable, Hashable {
    case number(Double)
    case numbers([Double])
    case flag(Bool)
    case choice(String)
    case colour(Colour)
    case size(PhotoSize)
    case area(CropArea)
    case ratio(AspectRatio)
    case point(FocusPoint)
    case text(String)
}

/// A size in pixels of which one side may be open, written as `800x600`, `800x` or `x600`.
package struct PhotoSize: Sendable, Hashable {
    package let width: Int?
    package let height: Int?
}

/// The ratio of width to height, written as `16:9` or `1.5`.
package struct AspectRatio: Sendable, Hashable {
    package let width: Double
    package let height: Double

    package var quotient: Double { width / height }
}

/// A point in a photo. Its coordinates are fractions of the width and the height, from 0 (left, top) to 1 (right, bottom).
package struct FocusPoint: Sendable, Hashable {
    package let x: Double
    package let y: Double
}

/// The part of a photo that `crop` keeps.
package enum CropArea: Sendable, Hashable {
    /// A size and the distance in pixels from the top left, written as `300x200+10+20`.
    case box(width: Int, height: Int, x: Int, y: Int)
    /// At most this size.
    case size(PhotoSize)
    /// The largest area with this ratio.
    case ratio(AspectRatio)
}

// MARK: - Canonical text

extension ParameterValue: CustomStringConvertible {
    /// The text that parses as this value; texts are quoted where the grammar requires it.
    package var description: String {
        switch self {
        case .number(let number): Decimal.text(number)
        case .numbers(let numbers): numbers.map(Decimal.text).joined(separator: ",")
        case .flag(let isOn): isOn ? "yes" : "no"
        case .choice(let word): word
        case .colour(let colour): colour.description
        case .size(let size): size.description
        case .area(let area): area.description
        case .ratio(let ratio): ratio.description
        case .point(let point): "\(Decimal.text(point.x))x\(Decimal.text(point.y))"
        case .text(let text): QuotedText.canonical(text)
        }
    }
}

extension PhotoSize: CustomStringConvertible {
    package var description: String {
        "\(width.map { "\($0)" } ?? "")x\(height.map { "\($0)" } ?? "")"
    }
}

extension AspectRatio: CustomStringConvertible {
    /// `16:9`; if the second number is 1 and the first is not whole, only the first number.
    package var description: String {
        height == 1 && width != width.rounded()
            ? Decimal.text(width) : "\(Decimal.text(width)):\(Decimal.text(height))"
    }
}

extension CropArea: CustomStringConvertible {
    package var description: String {
        switch self {
        case .box(let width, let height, let x, let y): "\(width)x\(height)+\(x)+\(y)"
        case .size(let size): size.description
        case .ratio(let ratio): ratio.description
        }
    }
}
