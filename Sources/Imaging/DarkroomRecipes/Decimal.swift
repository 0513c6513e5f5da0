/// Decimal numbers as users write them, followed by an optional unit.
struct Decimal {
    /// The digits with sign and decimal point.
    private let mantissa: String
    private let exponent: Int
    /// The text after the number.
    let unit: String

    /// Splits the text; nil if it does not begin with a decimal number.
    ///
    /// `Double` would also accept `nan`, `infinity` and hexadecimal numbers.
    init?(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        func take(_ accepted: (Unicode.Scalar) -> Bool) -> String {
            let taken = rest.prefix(while: accepted)
            rest = rest.dropFirst(taken.count)
            return taken.text
        }
        func takeOne(_ accepted: String) -> String {
            guard let next = rest.first, accepted.unicodeScalars.contains(next) else { return "" }
            rest = rest.dropFirst()
            return String(next)
        }
        let isDigit = { (scalar: Unicode.Scalar) in ("0"..."9").contains(scalar) }
        let sign = takeOne("+-")
        let whole = take(isDigit)
        let point = takeOne(".")
        let fraction = take(isDigit)
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        mantissa = sign + (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : point + fraction)

        let afterMantissa = rest
        if !takeOne("eE").isEmpty, let power = Int(takeOne("+-") + take(isDigit)), power.magnitude < 1000 {
            exponent = power
        } else {
            rest = afterMantissa
            exponent = 0
        }
        unit = rest.text
    }

    /// The number times ten to the power of `power`, with the sign of zero removed.
    func value(timesTenToThe power: Int = 0) -> Double {
        // The text is a valid decimal number; too large numbers are infinite.
        let number = Double("\(mantissa)e\(exponent + power)")!
        return number == 0 ? 0 : number
    }

    /// The shortest text that reads back as the same number.
    static func text(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Sequence<Unicode.Scalar> {
    var text: String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: self)
        return String(scalars)
    }
}
