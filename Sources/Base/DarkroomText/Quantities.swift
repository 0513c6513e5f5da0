/// A number of bytes: `512`, `64KiB`, `10MB`, `1.5GiB`.
package struct ByteSize: ExpressibleByArgument, Hashable {
    package let bytes: Int

    package init(bytes: Int) { self.bytes = bytes }

    /// A size in units of 1,048,576 bytes.
    package static func mebibytes(_ count: Int) -> ByteSize { ByteSize(bytes: count << 20) }

    package init(argument: String) throws {
        bytes = try ScaledNumber(argument).value(
            in: Self.units, ignoringCase: true,
            otherwise: "write a size in bytes with its unit, such as 64MiB, 10MB or 512KiB")
    }

    /// The quantity as a whole number with the largest possible unit.
    package var argumentText: String { ScaledNumber.text(bytes, in: Self.units) }

    private static let units: [Unit] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("TiB", 1 << 40),
        ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("TB", 1_000_000_000_000),
        ("B", 1), ("", 1),
    ]
}

/// A count, with the suffixes k, M and G for 10^3, 10^6 and 10^9: `100M`, `10k`.
package struct Quantity: ExpressibleByArgument, Hashable, ExpressibleByIntegerLiteral {
    package let value: Int

    /// Creates a quantity.
    package init(_ value: Int) { self.value = value }

    /// Creates a quantity.
    package init(integerLiteral value: Int) { self.value = value }

    package init(argument: String) throws {
        value = try ScaledNumber(argument).value(
            in: Self.units, ignoringCase: false, otherwise: "write a number, such as 5000, 10k or 100M")
    }

    /// The quantity as a whole number with the largest possible unit.
    package var argumentText: String { ScaledNumber.text(value, in: Self.units) }

    private static let units: [Unit] = [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000), ("", 1)]
}

/// Durations: `15s`, `5m`, `24h`, `7d`, `250ms`, `1m30s`, `1.5s`; a number without a unit is seconds.
extension Duration: ExpressibleByArgument {
    /// Parses numbers with their units and adds them up.
    package init(argument: String) throws {
        let hint = "write a duration with its unit, such as 250ms, 15s, 5m, 1m30s or 24h"
        let isNumber = !argument.isEmpty && argument.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        var rest = (isNumber ? argument + "s" : argument)[...]
        var nanoseconds = 0
        repeat {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let unit = rest.dropFirst(number.count).prefix { $0.isLetter }
            rest = rest.dropFirst(number.count + unit.count)
            let scaled = ScaledNumber(String(number + unit))
            let part = try scaled.value(in: Self.units, ignoringCase: false, otherwise: hint)
            let (sum, overflow) = nanoseconds.addingReportingOverflow(part)
            guard !overflow else { throw InvalidValue("longer than 292 years; " + hint) }
            nanoseconds = sum
        } while !rest.isEmpty
        self = .nanoseconds(nanoseconds)
    }

    /// The duration in hours and smaller units. A duration longer than 292 years is given in seconds with an exponent.
    package var argumentText: String {
        guard var rest = Int(exactly: (self / .nanoseconds(1)).rounded()) else { return "\(self / .seconds(1))s" }
        var text = ""
        for unit in Self.units where rest >= unit.size {
            text += "\(rest / unit.size)\(unit.name)"
            rest %= unit.size
        }
        return text.isEmpty ? "0s" : text
    }

    /// The units in descending order of their size, so that `argumentText` uses each unit at most once. Days are last,
    /// because they are parsed but never written.
    private static let units: [Unit] = [
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000),
        ("us", 1000), ("ns", 1), ("d", 86_400_000_000_000),
    ]
}

private typealias Unit = (name: String, size: Int)

/// A number, with or without decimals, directly followed by a unit.
private struct ScaledNumber {
    private let number: String
    private let unit: String

    init(_ text: String) {
        number = String(text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") })
        unit = String(text.dropFirst(number.count))
    }

    /// The number times its unit, rounded to a whole number.
    func value(in units: [Unit], ignoringCase: Bool, otherwise hint: String) throws -> Int {
        let found = units.first { ignoringCase ? $0.name.lowercased() == unit.lowercased() : $0.name == unit }
        guard let found, let decimal = Double(number) else { throw InvalidValue(hint) }
        if let whole = Int(number) {
            let (product, overflow) = whole.multipliedReportingOverflow(by: found.size)
            guard !overflow else { throw InvalidValue("too large; " + hint) }
            return product
        }
        guard let product = Int(exactly: (decimal * Double(found.size)).rounded()) else {
            throw InvalidValue("too large; " + hint)
        }
        return product
    }

    /// The number in the first unit that divides the value without a remainder.
    static func text(_ value: Int, in units: [Unit]) -> String {
        guard value != 0, let unit = units.first(where: { value % $0.size == 0 }) else { return "\(value)" }
        return "\(value / unit.size)\(unit.name)"
    }
}
