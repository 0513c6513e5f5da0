import Darkroom

/// One line of a terminal: texts with styles. It contains no control characters.
struct StyledLine: Equatable, ExpressibleByStringLiteral {
    /// The style of a text: the parameter of SGR (ECMA-48).
    enum Style: String {
        case plain = ""
        case bold = "1"
        case dim = "2"
        case good = "32"
        case warning = "33"
        case bad = "31"
        case downloads = "92"
        case filtrations = "95"
    }

    private struct Span: Equatable {
        var text: String
        let style: Style
    }

    private var spans: [Span] = []

    init() {}

    init(_ text: String, _ style: Style = .plain) { append(text, style) }

    init(stringLiteral text: String) { self.init(text) }

    var text: String { spans.map(\.text).joined() }

    /// The width of the line in columns.
    var columns: Int { spans.reduce(0) { $0 + TextWidth.columns(of: $1.text) } }

    /// Adds a text at the end. Control characters are escaped.
    mutating func append(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        spans.append(Span(text: HumanText.safe(text), style: style))
    }

    mutating func append(_ line: StyledLine) { spans += line.spans }

    /// Adds spaces at the end until the line has this number of columns.
    mutating func pad(to columns: Int) {
        append(String(repeating: " ", count: max(0, columns - self.columns)))
    }

    /// The line; if it is wider than `room` columns, its beginning followed by "…".
    func cut(to room: Int) -> StyledLine {
        guard columns > room else { return self }
        var cut = StyledLine()
        var left = room
        for span in spans {
            let columns = TextWidth.columns(of: span.text)
            // If this text fills the last column, there is no room for the following texts, so "…" replaces the end of
            // this text.
            let text = columns < left ? span.text : TextWidth.cut(span.text + "\u{2026}", to: left)
            cut.spans.append(Span(text: text, style: span.style))
            left -= columns
            guard left > 0 else { break }
        }
        return cut
    }

    /// The line with its styles as escape sequences.
    var ansi: String {
        spans.map { $0.style == .plain ? $0.text : "\u{1b}[\($0.style.rawValue)m\($0.text)\u{1b}[m" }.joined()
    }
}

extension StyledLine {
    /// A dim name and a count: `failed 3`.
    static func item(_ name: String, _ count: Int, _ style: Style = .plain) -> StyledLine {
        var item = StyledLine(name + " ", .dim)
        item.append(HumanText.count(count), style)
        return item
    }

    /// Texts separated by spaces, broken into lines of at most `width` columns.
    static func flow(_ items: [StyledLine], width: Int, indent: Int = 0) -> [StyledLine] {
        var lines: [StyledLine] = []
        var line = StyledLine()
        for item in items {
            if line.columns > 0, line.columns + 3 + item.columns > width {
                lines.append(line)
                line = StyledLine(String(repeating: " ", count: indent))
            } else if line.columns > 0 {
                line.append("   ")
            }
            line.append(item)
        }
        if line.columns > 0 { lines.append(line) }
        return lines.map { $0.cut(to: width) }
    }

    /// A long text, broken between words into at most `most` lines.
    static func wrapped(_ text: String, _ style: Style, width: Int, most: Int) -> [StyledLine] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, lines.count == most || TextWidth.columns(of: last + " " + word) <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { StyledLine($0, style).cut(to: width) }
    }

    /// A line of `width` columns with one text at the left and one at the right. If they overlap, the left text is cut.
    static func ends(_ left: StyledLine, _ right: StyledLine, width: Int) -> StyledLine {
        guard right.columns + 10 <= width else { return left.cut(to: width) }
        var line = left.cut(to: width - right.columns - 2)
        line.pad(to: width - right.columns)
        line.append(right)
        return line
    }
}
