import DarkroomText

/// A mistake in the text of a filter chain, of encoding settings or of renditions.
package struct ChainSyntaxError: Error, Equatable {
    /// The whole text; in a recipe, only the line with the mistake.
    package let text: String
    /// The position of the mistake in code points, counted from 0.
    package let offset: Int
    /// The length of the mistake in code points; 0 if something is missing at the position.
    package let length: Int
    /// The name of the filter with the mistake; nil if the mistake is elsewhere.
    package let filter: String?
    /// The number of the line in a recipe, counted from 1.
    package let line: Int?
    /// The mistake, and how to correct it.
    package let problem: String

    init(_ text: String, _ range: Range<Int>, filter: String? = nil, line: Int? = nil, _ problem: String) {
        self.text = text
        offset = range.lowerBound
        length = range.count
        self.filter = filter
        self.line = line
        self.problem = problem
    }
}

extension ChainSyntaxError: CustomStringConvertible {
    /// One line, for example `filter sepia, character 7: amount "2": write a number from 0 to 1`.
    package var description: String {
        let places = [line.map { "line \($0)" }, filter.map { "filter \($0)" }, "character \(offset + 1)"]
        return places.compactMap { $0 }.joined(separator: ", ") + ": " + problem
    }

    /// The text, and below it a line of carets under the mistake. Both lines show at most 30 code points before the
    /// mistake and 60 from the beginning of the mistake on.
    package var pointed: String {
        let scalars = Array(text.unicodeScalars)
        let start = max(0, offset - 30)
        let end = min(scalars.count, offset + 60)
        let marked = min(offset + length, end)
        let before = (start > 0 ? "…" : "") + PrintableText.escaped(scalars[start..<offset].text)
        let mistake = PrintableText.escaped(scalars[offset..<marked].text)
        let after = PrintableText.escaped(scalars[marked..<end].text) + (end < scalars.count ? "…" : "")
        let indent = String(repeating: " ", count: before.unicodeScalars.count)
        let carets = String(repeating: "^", count: max(1, mistake.unicodeScalars.count))
        return before + mistake + after + "\n" + indent + carets
    }
}
