/// The fields of a reply to INFO.
package struct ServerInformation: Sendable {
    private var fields: [Substring: Substring] = [:]

    /// Parses a reply to INFO. Lines that are not fields are skipped.
    package init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    /// The value of a field; nil if the reply does not contain it.
    package subscript(field: String) -> String? { fields[field[...]].map(String.init) }

    /// The value of an integer field; nil if the field is missing or not an integer.
    package func int(_ field: String) -> Int? { self[field].flatMap { Int($0) } }
}
