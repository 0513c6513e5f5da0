import DarkroomModel

/// The text that Redis stores about a failed photo: JSON of at most 512 bytes, without the secrets that a URL may
/// contain. The manifest contains the full text.
enum FailureText {
    private static let nameBytes = 90
    private static let urlBytes = 190
    private static let detailBytes = 130

    /// Returns JSON with the name, the reason, the detail, and the URL without user, password and query.
    static func json(_ line: ManifestLine) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        JSONText.append("name", cut(PhotoURL.redacting(line.name), to: nameBytes), to: &text)
        JSONText.append("url", cut(PhotoURL.redacted(line.url), to: urlBytes), to: &text)
        JSONText.append("reason", line.reason, to: &text)
        JSONText.append("detail", line.detail.map { cut(PhotoURL.redacting($0), to: detailBytes) }, to: &text)
        JSONText.append("attempts", line.attempts, to: &text)
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// Returns the text, truncated so that it takes at most `bytes` bytes in JSON.
    private static func cut(_ text: String, to bytes: Int) -> String {
        func size(_ text: String) -> Int {
            var json: [UInt8] = []
            JSONText.append(text, to: &json)
            return json.count - 2
        }
        if text.utf8.count <= bytes, size(text) <= bytes { return text }
        var kept = String.UnicodeScalarView(text.unicodeScalars.prefix(bytes - 3))
        while size(String(kept)) > bytes - 3 { kept.removeLast() }
        return String(kept) + "..."
    }
}
