/// A position in a text that is read from left to right, code point by code point.
struct TextScanner {
    let text: String
    private let scalars: [Unicode.Scalar]
    private let end: Int
    private(set) var position: Int

    /// Reads the whole text.
    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
        end = scalars.count
        position = 0
    }

    /// Creates a scanner for a range of the text of another scanner. Positions count from the start of the whole text.
    init(_ other: TextScanner, _ range: Range<Int>) {
        text = other.text
        scalars = other.scalars
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position >= end }
    var next: Unicode.Scalar? { position < end ? scalars[position] : nil }

    func text(_ range: Range<Int>) -> String { scalars[range].text }

    func error(_ range: Range<Int>, filter: String? = nil, _ problem: String) -> ChainSyntaxError {
        ChainSyntaxError(text, range, filter: filter, problem)
    }

    // MARK: - Moving

    mutating func move(to position: Int) { self.position = position }

    /// Skips the next code point if it is `scalar`.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    /// Moves to the next white space or code point of `stops`, and returns the range of the skipped positions.
    mutating func skip(to stops: String) -> Range<Int> {
        let start = position
        while let next, spaceLength == 0, !stops.unicodeScalars.contains(next) { position += 1 }
        return start..<position
    }

    mutating func skipSpace() {
        while spaceLength > 0 { position += spaceLength }
    }

    /// The length of the white space at the position: a space, tab or line end; or a backslash before a line end.
    private var spaceLength: Int {
        switch next {
        case " ", "\t", "\n", "\r": return 1
        case "\\":
            let after = scalars[position + 1..<min(position + 3, end)]
            return after.first == "\n" ? 2 : after.elementsEqual(["\r", "\n"]) ? 3 : 0
        default: return 0
        }
    }

    // MARK: - Values

    /// Reads a text in quotes, or a text up to the next white space or stop.
    mutating func value(upTo stops: String) throws(ChainSyntaxError) -> (text: String, range: Range<Int>) {
        let start = position
        guard take("\"") else {
            let range = skip(to: stops + "\"")
            if next == "\"" {
                throw error(position..<position + 1, "a quote within a value; put the whole value in quotes")
            }
            return (text(range), range)
        }
        var read: [Unicode.Scalar] = []
        while let scalar = next {
            position += 1
            if scalar == "\"" {
                let range = start..<position
                guard isAtEnd || spaceLength > 0 || next.map(stops.unicodeScalars.contains) == true else {
                    throw error(position..<position + 1, "text after the closing quote; put the whole value in quotes")
                }
                return (read.text, range)
            }
            guard !scalar.isControl else {
                throw error(position - 1..<position, "a line end, tab or control character in quotes; remove it")
            }
            if scalar == "\\" {
                guard let escaped = next, escaped == "\"" || escaped == "\\" else {
                    throw error(position - 1..<position, #"in quotes, write \\ for a backslash and \" for a quote"#)
                }
                position += 1
                read.append(escaped)
            } else {
                read.append(scalar)
            }
        }
        throw error(start..<start + 1, "the closing quote is missing")
    }

    /// Throws an error at the first control character that is not white space.
    func refuseControlCharacters() throws(ChainSyntaxError) {
        for index in position..<end where scalars[index].isControl && !"\t\n\r".unicodeScalars.contains(scalars[index])
        {
            throw error(index..<index + 1, "a control character; remove it")
        }
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character or a separator of lines.
    var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
