import Foundation

/// A JSON value. The text keeps the order of an object's members, because the documentation states this order.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    /// Any other number, which must be finite.
    case double(Double)
    case string(String)
    case array([JSON])
    /// An object.
    case object([Member])

    /// A member of an object.
    package struct Member: Sendable, Equatable {
        /// The name, which should be unique in the object.
        package let key: String
        package let value: JSON

        package init(key: String, value: JSON) {
            self.key = key
            self.value = value
        }
    }

    /// A string; null if `value` is nil.
    package init(_ value: String?) { self = value.map(JSON.string) ?? .null }

    /// An integer; null if `value` is nil.
    package init(_ value: Int?) { self = value.map(JSON.int) ?? .null }

    /// A number with a fixed number of decimals (three for seconds, two for rates); null if `value` is nil.
    package init(_ value: Double?, decimals: Int) {
        let scale = pow(10, Double(decimals))
        self = value.map { .double(($0 * scale).rounded() / scale) } ?? .null
    }

    /// A time, given in milliseconds since 1970, as ISO 8601 text: `2026-11-21T09:05:01.123Z`; null if `milliseconds`
    /// is nil.
    package init(time milliseconds: Int?) { self.init(milliseconds.map(Self.iso8601)) }

    /// This object with the members of another object added; unchanged unless both values are objects.
    package func adding(_ other: JSON) -> JSON {
        guard case .object(let own) = self, case .object(let others) = other else { return self }
        return .object(own + others)
    }

    /// The value as compact text.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .int(let value): bytes += String(value).utf8
        case .double(let value):
            bytes += (value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)).utf8
        case .string(let value): JSONText.append(value, to: &bytes)
        case .array(let elements):
            Self.append("[", elements, "]", to: &bytes) { $0.append(to: &$1) }
        case .object(let members):
            Self.append("{", members, "}", to: &bytes) { member, bytes in
                JSONText.append(member.key, to: &bytes)
                bytes += ":".utf8
                member.value.append(to: &bytes)
            }
        }
    }

    private static func iso8601(_ milliseconds: Int) -> String {
        // Format whole seconds only: the formatter truncates fractions, so the result could be a millisecond too early.
        let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
        return seconds.dropLast() + String(format: ".%03dZ", milliseconds % 1000)
    }

    private static func append<Element>(
        _ start: String, _ elements: [Element], _ end: String, to bytes: inout [UInt8],
        append: (Element, inout [UInt8]) -> Void
    ) {
        bytes += start.utf8
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes += ",".utf8 }
            append(element, &bytes)
        }
        bytes += end.utf8
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    /// An object with its members in the order of the literal.
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(key: $0, value: $1) })
    }
}
