import Darkroom

/// One line of a terminal: texts, each in a style. Nothing in it steers the terminal.
struct StyledLine: Equatable, ExpressibleByStringLiteral {
    /// How a text looks: the parameters of SGR (ECMA-48).
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

    /// An empty line.
    init() {}

    /// A line in one style.
    init(_ text: String, _ style: Style = .plain) { append(text, style) }

    init(stringLiteral text: String) { self.init(text) }

    /// The text alone.
    var text: String { spans.map(\.text).joined() }

    /// How many columns it takes.
    var columns: Int { spans.reduce(0) { $0 + TextWidth.columns(of: $1.text) } }

    /// Adds a text at the end; what in it would steer a terminal is made visible.
    mutating func append(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        spans.append(Span(text: HumanText.safe(text), style: style))
    }

    /// Adds another line at the end.
    mutating func append(_ line: StyledLine) { spans += line.spans }

    /// Adds spaces until the line has so many columns.
    mutating func pad(to columns: Int) {
        append(String(repeating: " ", count: max(0, columns - self.columns)))
    }

    /// The line, or as much of it as fits into `room` columns, the last of them "…".
    func cut(to room: Int) -> StyledLine {
        guard columns > room else { return self }
        var cut = StyledLine()
        var left = room
        for span in spans {
            let columns = TextWidth.columns(of: span.text)
            // Where the text ends in the last column, something behind it is still missing.
            let text = columns < left ? span.text : TextWidth.cut(span.text + "\u{2026}", to: left)
            cut.spans.append(Span(text: text, style: span.style))
            left -= columns
            guard left > 0 else { break }
        }
        return cut
    }

    /// The line with its styles, as a terminal takes it.
    var ansi: String {
        spans.map { $0.style == .plain ? $0.text : "\u{1b}[\($0.style.rawValue)m\($0.text)\u{1b}[m" }.joined()
    }
}

extension StyledLine {
    /// Texts side by side with spaces between them, on as many lines as `width` needs.
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

    /// A long text on as many lines as it needs, at most `most`, broken between words.
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

    /// Two texts at both ends of `width` columns; the left one is cut where they meet.
    static func ends(_ left: StyledLine, _ right: StyledLine, width: Int) -> StyledLine {
        guard right.columns + 10 <= width else { return left.cut(to: width) }
        var line = left.cut(to: width - right.columns - 2)
        line.pad(to: width - right.columns)
        line.append(right)
        return line
    }
}
