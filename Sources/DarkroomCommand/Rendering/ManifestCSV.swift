import Darkroom

/// Lines of a manifest as comma-separated values (RFC 4180, lines ending with LF).
enum ManifestCSV {
    /// The names of the columns.
    static let header = """
        batch,index,name,url,state,file,reason,detail,attempts,width,height,bytes,sha256,downloadMilliseconds,\
        filterMilliseconds,writeMilliseconds

        """

    /// One line with its line feed.
    static func row(_ line: ManifestLine) -> String {
        let numbers = [
            line.attempts, line.width, line.height, line.bytes, line.downloadMilliseconds, line.filterMilliseconds,
            line.writeMilliseconds,
        ].map { $0.map(String.init) ?? "" }
        let fields =
            [
                line.batch.description, String(line.index), line.name, line.url, line.state, line.file ?? "",
                line.reason ?? "",
                line.detail ?? "",
            ] + numbers[..<4] + [line.sha256 ?? ""] + numbers[4...]
        return fields.map(quoted).joined(separator: ",") + "\n"
    }

    private static func quoted(_ field: String) -> String {
        // Scalars: CR LF is one character.
        guard field.unicodeScalars.contains(where: { ["\"", ",", "\n", "\r"].contains($0) }) else { return field }
        return "\"" + field.replacing("\"", with: "\"\"") + "\""
    }
}
