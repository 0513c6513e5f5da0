/// The renditions of each photo of a batch. Its text has one rendition a line.
package struct Recipe: Sendable, Hashable {
    package static let maxRenditions = 64
    /// The largest length of a text in bytes of UTF-8. A text in Redis may be twice as long.
    package static let maxBytes = 65_536

    package let renditions: [Rendition]

    /// Creates a recipe from renditions that were given one by one.
    ///
    /// Throws if there is no rendition, if there are too many, or if two names differ at most by case.
    package init(_ renditions: [Rendition]) throws(ChainSyntaxError) {
        for (index, rendition) in renditions.enumerated() {
            if let problem = Self.problem(of: rendition, after: renditions[..<index]) {
                throw ChainSyntaxError(rendition.description, 0..<rendition.name.unicodeScalars.count, problem)
            }
        }
        try self.init(checked: renditions)
    }

    /// Parses the text of a file.
    ///
    /// Empty lines and lines that begin with `#` are ignored. A backslash at the end of a line continues the rendition
    /// on the next line.
    package init(parsing text: String) throws(ChainSyntaxError) {
        guard text.utf8.count <= Self.maxBytes else { throw Self.tooLong }
        let lines = RecipeLines(text)
        var renditions: [Rendition] = []
        for range in lines.renditions {
            do throws(ChainSyntaxError) {
                var parser = RenditionParser(TextScanner(lines.scanner, range))
                let rendition = try parser.rendition()
                if let problem = Self.problem(of: rendition, after: renditions[...]) {
                    throw ChainSyntaxError(text, parser.name, problem)
                }
                renditions.append(rendition)
            } catch {
                throw lines.located(error)
            }
        }
        try self.init(checked: renditions)
    }

    private init(checked renditions: [Rendition]) throws(ChainSyntaxError) {
        guard !renditions.isEmpty else { throw ChainSyntaxError("", 0..<0, "no rendition; write NAME = FILTERS") }
        self.renditions = renditions
        // The canonical text may be longer than the given one, and must be accepted as well.
        guard description.utf8.count <= Self.maxBytes else { throw Self.tooLong }
    }

    private static let tooLong = ChainSyntaxError("", 0..<0, "a recipe is at most \(maxBytes) bytes long")

    private static func problem(of rendition: Rendition, after others: ArraySlice<Rendition>) -> String? {
        if others.count >= maxRenditions { return "more than \(maxRenditions) renditions; leave some out" }
        let other = others.first { $0.name.lowercased() == rendition.name.lowercased() }
        return other.map {
            $0.name == rendition.name
                ? "the rendition \($0.name) is given twice"
                : "the name differs from \($0.name) only by case; write another name"
        }
    }
}

extension Recipe: CustomStringConvertible {
    package var description: String { renditions.map { "\($0)\n" }.joined() }
}
