/// The lines of the text of a recipe.
struct RecipeLines {
    let scanner: TextScanner
    /// The positions of the lines, excluding the line ends.
    private let lines: [Range<Int>]
    /// The positions of the renditions, each with all its lines.
    let renditions: [Range<Int>]

    init(_ text: String) {
        scanner = TextScanner(text)
        let scalars = Array(text.unicodeScalars)
        var lines: [Range<Int>] = []
        var renditions: [Range<Int>] = []
        // Editors of other systems write a byte order mark at the start.
        var start = scalars.first == "\u{FEFF}" ? 1 : 0
        var isContinued = false
        while start < scalars.count {
            let lineFeed = scalars[start...].firstIndex(of: "\n") ?? scalars.count
            let hasReturn = lineFeed > start && scalars[lineFeed - 1] == "\r"
            let line = start..<(hasReturn ? lineFeed - 1 : lineFeed)
            lines.append(line)
            start = lineFeed + 1
            let first = scalars[line].first { $0 != " " && $0 != "\t" }
            guard isContinued || (first != nil && first != "#") else { continue }
            let begin = isContinued ? renditions.removeLast().lowerBound : line.lowerBound
            isContinued = scalars[line].last == "\\" && lineFeed < scalars.count
            // The line end that a backslash escapes is part of the rendition.
            renditions.append(begin..<(isContinued ? start : line.upperBound))
        }
        self.lines = lines
        self.renditions = renditions
    }

    /// The error with the number and the text of its line.
    func located(_ error: ChainSyntaxError) -> ChainSyntaxError {
        let index = lines.lastIndex { $0.lowerBound <= error.offset } ?? 0
        let line = lines[index]
        // An error at the end of a line begins at the end of the line at the latest.
        let start = min(error.offset, line.upperBound)
        let end = min(max(start, error.offset + error.length), line.upperBound)
        return ChainSyntaxError(
            scanner.text(line), start - line.lowerBound..<end - line.lowerBound, filter: error.filter, line: index + 1,
            error.problem)
    }
}
