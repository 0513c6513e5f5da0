import DarkroomModel

/// What Redis keeps of a failed photo: JSON without the secrets that a URL may carry.
enum FailureText {
    /// name, URL without user:password and query, reason, detail.
    static func json(_ line: ManifestLine) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        JSONText.append("name", PhotoURL.redacting(line.name), to: &text)
        JSONText.append("url", PhotoURL.redacted(line.url), to: &text)
        JSONText.append("reason", line.reason, to: &text)
        JSONText.append("detail", line.detail.map { PhotoURL.redacting($0) }, to: &text)
        JSONText.append("attempts", line.attempts, to: &text)
        text.append(UInt8(ascii: "}"))
        return text
    }
}
