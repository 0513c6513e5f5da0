extension ValueKind {
    /// How to write a value of this kind, for messages and help: `a number from 0 to 1, or a percentage`.
    package var form: String {
        switch self {
        case .number(let range, let unit, let step):
            let bounds = " from \(Decimal.text(range.lowerBound)) to \(Decimal.text(range.upperBound))"
            let kind = step == .odd ? "an odd number" : step == .whole ? "a whole number" : "a number"
            switch unit {
            case .none: return kind + bounds
            case .pixels: return kind + " of pixels" + bounds
            case .degrees: return kind + " of degrees" + bounds
            case .percent: return kind + " of percent" + bounds
            case .share:
                let percents = "\(Decimal.text(range.lowerBound * 100))% to \(Decimal.text(range.upperBound * 100))%"
                return kind + bounds + ", or " + percents
            }
        case .numbers(let counts, let range):
            let lengths = counts.map { "\($0)" }.joined(separator: " or ")
            let bounds = "\(Decimal.text(range.lowerBound)) to \(Decimal.text(range.upperBound))"
            return "\(lengths) numbers from \(bounds)"
        case .flag: return "yes or no"
        case .choice(let words): return Self.alternatives(words)
        case .colour(let words, let isOpaque):
            let colour = (isOpaque ? "an opaque colour" : "a colour") + " such as #ff8800 or orange"
            return ([colour] + words).joined(separator: ", or ")
        case .size: return "a size in pixels such as 800x600, 800x or x600"
        case .area: return "300x200 (a size), 300x200+10+20 (a box) or 16:9 (a ratio)"
        case .ratio: return "a ratio such as 16:9 or 1.5"
        case .point: return "a point such as 0.3x0.7 or 30%x70%"
        case .text(let maxScalars): return "a text of 1 to \(maxScalars) characters"
        }
    }

    /// The optional unit of a number; nil for numbers without a unit and other kinds.
    package var unitSymbol: String? {
        if case .number(_, let unit, _) = self { unit.symbol } else { nil }
    }

    private static func alternatives(_ words: [String]) -> String {
        words.count < 2
            ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words.suffix(1).joined()
    }
}

extension NumberUnit {
    var symbol: String? {
        switch self {
        case .none: nil
        case .pixels: "px"
        case .degrees: "deg"
        case .share, .percent: "%"
        }
    }
}
