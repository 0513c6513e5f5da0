/// The renditions of each photo of a batch. Their text, a *recipe*, has one rendition in each line.
extension [PhotoRendition] {
    /// Parses the text of a recipe file, which must contain at least one rendition.
    ///
    /// Empty lines and lines that begin with `#` are ignored. A backslash at the end of a line continues the rendition
    /// on the next line.
    package init(parsing text: String) throws(ChainSyntaxError) {
        guard text.utf8.count <= PhotoRendition.maxRecipeBytes else { throw Self.tooLong }
        let lines = RecipeLines(text)
        self = []
        for range in lines.renditions {
            do throws(ChainSyntaxError) {
                var parser = RenditionParser(TextScanner(lines.scanner, range))
                let rendition = try parser.rendition()
                if let problem = problem(adding: rendition) { throw ChainSyntaxError(text, parser.name, problem) }
                append(rendition)
            } catch {
                throw lines.located(error)
            }
        }
        guard !isEmpty else { throw ChainSyntaxError("", 0..<0, "no rendition; write NAME = FILTERS") }
        try checkLength()
    }

    /// The renditions in canonical form. Their names differ by more than case.
    package func checked() throws(ChainSyntaxError) -> [PhotoRendition] {
        var checked: [PhotoRendition] = []
        for rendition in self {
            let rendition = try rendition.checked()
            if let problem = checked.problem(adding: rendition) {
                throw ChainSyntaxError(rendition.description, 0..<rendition.name.unicodeScalars.count, problem)
            }
            checked.append(rendition)
        }
        try checked.checkLength()
        return checked
    }

    /// Checks that each setting of a rendition can have an effect. `defaults` are the settings of all renditions.
    package func checkSettings(over defaults: PhotoEncoding) throws(ChainSyntaxError) {
        for rendition in self {
            try rendition.encoding.merged(over: defaults).check(rendition.encoding, in: rendition.description)
        }
    }

    /// The canonical text, as it is stored in Redis; empty without renditions.
    package var text: String { map { "\($0)\n" }.joined() }

    private func problem(adding rendition: PhotoRendition) -> String? {
        if count >= PhotoRendition.maxCount {
            return "more than \(PhotoRendition.maxCount) renditions; leave some out"
        }
        let other = first { $0.name.lowercased() == rendition.name.lowercased() }
        return other.map {
            $0.name == rendition.name
                ? "the rendition \($0.name) is given twice"
                : "the name differs from \($0.name) only by case; write another name"
        }
    }

    /// The canonical text may be longer than the given one, and must be accepted as well.
    private func checkLength() throws(ChainSyntaxError) {
        guard text.utf8.count <= PhotoRendition.maxRecipeBytes else { throw Self.tooLong }
    }

    private static var tooLong: ChainSyntaxError {
        ChainSyntaxError("", 0..<0, "a recipe is at most \(PhotoRendition.maxRecipeBytes) bytes long")
    }
}

extension PhotoRendition {
    /// The largest number of renditions of a photo.
    package static let maxCount = 64
    /// The largest length of the text of a recipe in bytes of UTF-8.
    package static let maxRecipeBytes = 65_536
}
