/// What INFO answers of a server: a value a field.
package struct ServerInformation: Sendable {
    private var fields: [Substring: Substring] = [:]

    /// Reads the answer to INFO; lines that are no field are left out.
    package init(_ text: String) {
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    /// The value of a field; nil when the server does not tell it.
    package subscript(field: String) -> String? { fields[field[...]].map(String.init) }

    /// The value of a field that is a whole number.
    package func int(_ field: String) -> Int? { self[field].flatMap { Int($0) } }
}
