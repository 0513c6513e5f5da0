import DarkroomText

/// Texts in double quotes, with the escapes `\"` and `\\`.
enum QuotedText {
    /// The text, in quotes unless it can be parsed without quotes in every place of a chain, a rendition and a recipe.
    static func canonical(_ text: String) -> String { isPlain(text, except: ",;:=\"\\") ? text : quoted(text) }

    /// The arguments of a custom filter, in which only white space, semicolons, quotes and backslashes are special.
    static func canonicalArguments(_ text: String) -> String { isPlain(text, except: ";\"\\") ? text : quoted(text) }

    private static func isPlain(_ text: String, except special: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && !special.unicodeScalars.contains($0)
            }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"" + escaped.text + "\""
    }

    /// A text from outside as part of a message: in quotes, escaped, and cut after 60 code points.
    static func inMessage(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(60).text
        return "\"" + PrintableText.escaped(shown) + (shown.unicodeScalars.count < text.unicodeScalars.count ? "…" : "")
            + "\""
    }
}
