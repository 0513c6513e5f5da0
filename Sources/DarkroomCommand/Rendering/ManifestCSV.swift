import Darkroom

/// Lines of a manifest as comma-separated values (RFC 4180, lines ending with LF).
///
/// Spreadsheets take a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a formula, and lists come
/// from strangers: such a cell begins with an apostrophe, which spreadsheets take for the mark of a text.
enum ManifestCSV {
    /// The names of the columns.
    static let header = """
        batch,index,name,url,state,file,reason,detail,attempts,width,height,bytes,sha256,downloadMilliseconds,\
        filterMilliseconds,writeMilliseconds

        """

    /// One line with its line feed.
    /// - Parameter isForTerminal: people read it on a terminal, which nothing in it may steer.
    static func row(_ line: ManifestLine, isForTerminal: Bool = false) -> String {
        let numbers = [
            line.attempts, line.width, line.height, line.bytes, line.downloadMilliseconds, line.filterMilliseconds,
            line.writeMilliseconds,
        ].map { $0.map(String.init) ?? "" }
        var fields = [
            line.batch.description, String(line.index), line.name, line.url, line.state, line.file ?? "",
            line.reason ?? "", line.detail ?? "",
        ]
        fields += numbers[..<4]
        fields.append(line.sha256 ?? "")
        fields += numbers[4...]
        return fields.map { quoted(text(isForTerminal ? HumanText.safe($0) : $0)) }.joined(separator: ",") + "\n"
    }

    /// The field as a text, never a formula.
    private static func text(_ field: String) -> String {
        guard let first = field.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) else { return field }
        return "'" + field
    }

    private static func quoted(_ field: String) -> String {
        // Scalars: CR LF is one character.
        guard field.unicodeScalars.contains(where: { ["\"", ",", "\n", "\r"].contains($0) }) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
