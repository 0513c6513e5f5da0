/// The value of a `Content-Type` or `Content-Disposition` field: a name and parameters.
package struct ContentTypeField: Sendable, Equatable {
    /// The name in lower case.
    package let name: String
    private let parameters: [String: String]

    package init(_ text: String) {
        var scanner = text[...]
        name = Self.word(&scanner, until: ";").lowercased()
        var parameters: [String: String] = [:]
        while scanner.popFirst() != nil {
            let key = Self.word(&scanner, until: "=;").lowercased()
            guard scanner.first == "=" else { continue }
            scanner.removeFirst()
            let value =
                scanner.drop { $0 == " " }.first == "\"" ? Self.quoted(&scanner) : Self.word(&scanner, until: ";")
            if parameters[key] == nil { parameters[key] = value }
        }
        self.parameters = parameters
    }

    package func parameter(_ name: String) -> String? { parameters[name] }

    private static func word(_ scanner: inout Substring, until ends: String) -> String {
        let word = scanner.prefix { !ends.contains($0) }
        scanner = scanner[word.endIndex...]
        return word.trimmingSpaces
    }

    /// A quoted string; a backslash makes the next character literal (RFC 9110, section 5.6.4).
    private static func quoted(_ scanner: inout Substring) -> String {
        scanner = scanner.drop { $0 == " " }.dropFirst()
        var text = ""
        while let character = scanner.popFirst(), character != "\"" {
            // Browsers send a backslash in a file name unchanged, and a quote as %22.
            if character == "\\", let next = scanner.first, next == "\"" || next == "\\" {
                text.append(next)
                scanner.removeFirst()
            } else {
                text.append(character)
            }
        }
        scanner = scanner.drop { $0 != ";" }
        return text
    }
}

extension HTTPRequest {
    package var contentType: ContentTypeField { ContentTypeField(headers["content-type"] ?? "") }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...end])
    }
}
