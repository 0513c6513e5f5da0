import Darkroom

/// Lines of a manifest as comma-separated values (RFC 4180, lines ending with LF).
///
/// Spreadsheets evaluate a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return as a formula, and lists
/// may come from untrusted sources. Therefore such a cell gets an apostrophe at its beginning, which marks it as text.
enum ManifestCSV {
    static let header = """
        batch,index,name,url,state,file,reason,detail,attempts,width,height,bytes,sha256,downloadMilliseconds,\
        filterMilliseconds,writeMilliseconds,rendition,note

        """

    /// A line of the manifest as CSV rows: one for each file, or one if there is no file. Each row ends with a line
    /// feed.
    /// - Parameter isForTerminal: Whether control characters are escaped, for output on a terminal.
    static func rows(_ line: ManifestLine, isForTerminal: Bool = false) -> String {
        line.rows.map { row(line, $0, isForTerminal) }.joined()
    }

    private static func row(_ line: ManifestLine, _ file: ManifestLine.File?, _ isForTerminal: Bool) -> String {
        let numbers = [
            line.attempts, file?.width, file?.height, file?.bytes, line.downloadMilliseconds, line.filterMilliseconds,
            line.writeMilliseconds,
        ].map { $0.map(String.init) ?? "" }
        var fields = [
            line.batch.description, String(line.index), line.name, line.url, line.state, file?.file ?? "",
            line.reason ?? "", line.detail ?? "",
        ]
        fields += numbers[..<4]
        fields.append(file?.sha256 ?? "")
        fields += numbers[4...]
        fields += [file?.rendition ?? "", line.note ?? ""]
        return fields.map { quoted(text(isForTerminal ? HumanText.safe($0) : $0)) }.joined(separator: ",") + "\n"
    }

    /// The field, with an apostrophe before it if a spreadsheet would evaluate it as a formula.
    private static func text(_ field: String) -> String {
        guard let first = field.unicodeScalars.first, "=+-@\t\r".unicodeScalars.contains(first) else { return field }
        return "'" + field
    }

    private static func quoted(_ field: String) -> String {
        // Compares scalars, since CR LF is a single Character.
        guard field.unicodeScalars.contains(where: { ["\"", ",", "\n", "\r"].contains($0) }) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}

extension ManifestLine {
    /// The file of each row in a table: nil for the only row of a photo without files.
    var rows: [File?] { files.isEmpty ? [nil] : files }
}
