import Foundation

/// A parsed JSON text.
enum JSONValue: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(_ text: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(Self.self, from: Data(text)) }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // The types exclude each other, so only one attempt succeeds; an Int is also a Double.
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? value.decode(Int.self) {
            self = .int(int)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    subscript(name: String) -> JSONValue? { object?[name] }
    subscript(position: Int) -> JSONValue? {
        array.flatMap { $0.indices.contains(position) ? $0[position] : nil }
    }

    var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
    var array: [JSONValue]? { if case .array(let items) = self { items } else { nil } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var int: Int? { if case .int(let number) = self { number } else { nil } }
    var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The texts of an array.
    var strings: [String] { (array ?? []).compactMap(\.string) }
}
