/// The target of a request in origin form (RFC 9112, section 3.2.1), decoded: `/batches/holidays?from=10`.
package struct RequestTarget: Sendable, Equatable {
    /// The components of the path between its slashes. No component is empty, `.` or `..`, and no component contains a
    /// slash, a backslash or a control character.
    package let path: [String]
    /// The parameters of the query, in the order of the query. All parameters with the same name are kept.
    package let query: [Parameter]

    package struct Parameter: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// Decodes a target. Returns nil if the target is not in origin form, if an escape is invalid, if decoded text is
    /// not UTF-8, or if a component of the path is not allowed. A single slash at the end is ignored.
    package init?(_ text: some Collection<UInt8>) {
        let end = text.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        guard text.first == Self.slash, let path = Self.path(text[..<end]) else { return nil }
        self.path = path
        let rest = end == text.endIndex ? text[end...] : text[text.index(after: end)...]
        guard let query = Self.parameters(rest) else { return nil }
        self.query = query
    }

    /// The value of the first parameter with this name.
    package subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    /// Decodes the parameters of a query, or of a form in `application/x-www-form-urlencoded`. Returns nil if an escape
    /// is invalid or decoded text is not UTF-8.
    package static func parameters(_ text: some Collection<UInt8>) -> [Parameter]? {
        var parameters: [Parameter] = []
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let value = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
            guard let name = decoded(pair[..<equals], plusIsSpace: true),
                let value = decoded(value, plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name: name, value: value))
        }
        return parameters
    }

    /// Encodes a component of a path, or a name or value of a query.
    package static func encoded(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let slash = UInt8(ascii: "/")
    private static let hexDigits = Array("0123456789ABCDEF".utf8)
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    private static func path(_ text: some Collection<UInt8>) -> [String]? {
        var parts = text.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        var components: [String] = []
        for part in parts {
            guard let component = decoded(part, plusIsSpace: false), isAllowed(component) else { return nil }
            components.append(component)
        }
        return components
    }

    private static func isAllowed(_ component: String) -> Bool {
        // Compares bytes, because a dot followed by a combining character is one Character, which differs from ".".
        let bytes = component.utf8
        guard !bytes.isEmpty, !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) else { return false }
        return bytes.allSatisfy { $0 >= 32 && $0 != 127 && $0 != slash && $0 != UInt8(ascii: "\\") }
    }

    private static func decoded(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var position = text.startIndex
        while position < text.endIndex {
            let byte = text[position]
            text.formIndex(after: &position)
            if byte == UInt8(ascii: "%") {
                guard let high = digit(text, &position), let low = digit(text, &position) else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit<Text: Collection<UInt8>>(_ text: Text, _ position: inout Text.Index) -> UInt8? {
        guard position < text.endIndex else { return nil }
        defer { text.formIndex(after: &position) }
        switch text[position] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return text[position] - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): return text[position] - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): return text[position] - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}
