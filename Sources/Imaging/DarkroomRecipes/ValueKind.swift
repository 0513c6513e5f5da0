/// The kind of values of a parameter or an encoding setting, with unit and range.
package enum ValueKind: Sendable, Hashable {
    case number(ClosedRange<Double>, NumberUnit = .none, NumberStep = .any)
    /// A list of numbers that are separate arguments. The length is one of `counts`.
    case numbers(counts: [Int], ClosedRange<Double>)
    case flag
    case choice([String])
    /// A CSS colour, or one of the words.
    case colour(or: [String] = [], isOpaque: Bool = false)
    case size
    case area
    case ratio
    case point
    case text(maxScalars: Int)
}

package enum NumberUnit: Sendable, Hashable {
    case none, pixels, degrees
    /// A share, 1 for the whole; `80%` is 0.8.
    case share
    /// A number of percent; `80%` is 80.
    case percent
}

package enum NumberStep: Sendable, Hashable {
    case any, whole, odd
}

/// The problem of a value, without its position.
package struct InvalidParameterValue: Error, Equatable {
    /// The mistake, and how to correct it, without the value and the name of its parameter.
    package let advice: String
    /// The whole message: `quality "0": write a whole number from 1 to 100`.
    package let problem: String

    init(_ text: String, _ name: String, _ advice: String) {
        self.advice = advice
        problem = "\(name) \(QuotedText.inMessage(text)): \(advice)"
    }
}

extension ValueKind {
    /// The valid lengths of a side of a photo in pixels.
    private static let sides = 1...65_535

    /// Parses a value of this kind.
    ///
    /// - Parameter name: The name of the parameter, for the error.
    package func parse(_ text: String, of name: String) throws(InvalidParameterValue) -> ParameterValue {
        guard let value = try parsed(text, name) else { throw InvalidParameterValue(text, name, "write " + form) }
        return value
    }

    /// Returns nil if the text does not have the form of this kind.
    private func parsed(_ text: String, _ name: String) throws(InvalidParameterValue) -> ParameterValue? {
        switch self {
        case .number(let range, let unit, let step):
            return .number(try Self.parseNumber(text, name, range, unit, step))
        case .numbers(_, let range):
            return .numbers([try Self.parseNumber(text, name, range, .none, .any)])
        case .flag:
            return text == "yes" ? .flag(true) : text == "no" ? .flag(false) : nil
        case .choice(let words):
            guard words.contains(text) else {
                throw InvalidParameterValue(text, name, Suggestion.text(text, words) ?? "write " + form)
            }
            return .choice(text)
        case .colour(let words, let isOpaque):
            if words.contains(text) { return .choice(text) }
            guard let colour = Colour(parsing: text) else {
                let suggestion = text.hasPrefix("#") ? nil : Suggestion.text(text, Colour.names.keys.sorted() + words)
                throw InvalidParameterValue(text, name, suggestion ?? "write " + form)
            }
            return isOpaque && colour.alpha < 255 ? nil : .colour(colour)
        case .size: return try Self.size(text, name).map(ParameterValue.size)
        case .area: return try Self.area(text, name).map(ParameterValue.area)
        case .ratio: return try Self.ratio(text, name).map(ParameterValue.ratio)
        case .point: return try Self.point(text, name).map(ParameterValue.point)
        case .text(let maxScalars):
            guard (1...maxScalars).contains(text.unicodeScalars.count) else { return nil }
            guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
                throw InvalidParameterValue(text, name, "write at least one character other than white space")
            }
            return .text(text)
        }
    }

    // MARK: - Numbers

    static func parseNumber(
        _ text: String, _ name: String, _ range: ClosedRange<Double>, _ unit: NumberUnit, _ step: NumberStep
    ) throws(InvalidParameterValue) -> Double {
        let form = ValueKind.number(range, unit, step).form
        guard let decimal = Decimal(text) else { throw InvalidParameterValue(text, name, "write " + form) }
        guard decimal.unit.isEmpty || decimal.unit == unit.symbol else {
            let isUnit = decimal.unit.allSatisfy { $0.isLetter || $0 == "%" }
            let correction = unit.symbol.map { "the unit is \($0); " } ?? "it has no unit; "
            throw InvalidParameterValue(text, name, (isUnit ? correction : "") + "write " + form)
        }
        let value = decimal.value(timesTenToThe: unit == .share && decimal.unit == "%" ? -2 : 0)
        guard range.contains(value), step.contains(value) else {
            throw InvalidParameterValue(text, name, "write " + form)
        }
        return value
    }

    private static func side(_ text: String, _ name: String, _ range: ClosedRange<Int>) throws(InvalidParameterValue)
        -> Int?
    {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        guard let number = Int(text), range.contains(number) else {
            throw InvalidParameterValue(
                text, name, "write whole pixels from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    // MARK: - Forms with several numbers

    private static func size(_ text: String, _ name: String) throws(InvalidParameterValue) -> PhotoSize? {
        let sides = text.parts(separatedBy: "x")
        guard sides.count <= 2, sides.contains(where: { !$0.isEmpty }) else { return nil }
        let width = try side(sides[0], name, Self.sides)
        let height = sides.count > 1 ? try side(sides[1], name, Self.sides) : nil
        // A side that is not empty must be a number.
        guard sides[0].isEmpty == (width == nil), sides.count < 2 || sides[1].isEmpty == (height == nil) else {
            return nil
        }
        return PhotoSize(width: width, height: height)
    }

    private static func area(_ text: String, _ name: String) throws(InvalidParameterValue) -> CropArea? {
        let parts = text.parts(separatedBy: "+")
        if parts.count == 3 {
            guard let size = try size(parts[0], name), let width = size.width, let height = size.height,
                let x = try side(parts[1], name, 0...Self.sides.upperBound),
                let y = try side(parts[2], name, 0...Self.sides.upperBound)
            else { return nil }
            return .box(width: width, height: height, x: x, y: y)
        }
        if text.contains("x") { return try size(text, name).map(CropArea.size) }
        // A whole number alone could be a width or a ratio.
        guard text.contains(":") || text.contains(".") else { return nil }
        return try ratio(text, name).map(CropArea.ratio)
    }

    private static func ratio(_ text: String, _ name: String) throws(InvalidParameterValue) -> AspectRatio? {
        let parts = text.parts(separatedBy: ":")
        guard parts.count <= 2 else { return nil }
        let sides = parts.compactMap { Decimal($0) }.filter { $0.unit.isEmpty }.map { $0.value() }
        guard sides.count == parts.count else { return nil }
        let ratio = AspectRatio(width: sides[0], height: sides.count > 1 ? sides[1] : 1)
        guard sides.allSatisfy({ (0.001...65_535).contains($0) }), (0.001...1000).contains(ratio.quotient) else {
            throw InvalidParameterValue(text, name, "write a ratio from 1:1000 to 1000:1")
        }
        return ratio
    }

    private static func point(_ text: String, _ name: String) throws(InvalidParameterValue) -> FocusPoint? {
        let parts = text.parts(separatedBy: "x")
        guard parts.count == 2 else { return nil }
        let x = try parseNumber(parts[0], name, 0...1, .share, .any)
        return FocusPoint(x: x, y: try parseNumber(parts[1], name, 0...1, .share, .any))
    }
}

extension NumberStep {
    func contains(_ number: Double) -> Bool {
        switch self {
        case .any: true
        case .whole: number == number.rounded()
        case .odd: number.truncatingRemainder(dividingBy: 2).magnitude == 1
        }
    }
}

extension String {
    /// The parts between the separators. A part may be empty.
    fileprivate func parts(separatedBy separator: Character) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
