import Darkroom

/// Rows in columns under headings on a terminal; in a pipe a line of values with tabs between them, without headings.
///
/// On a terminal that is too narrow, columns are left out, the least important first; then the last column is cut. A pipe gets
/// every column whole. Rows are held until there are enough to know how wide columns are, then written; so a table may be of
/// any length.
struct Table {
    /// A column of a table.
    struct Column: ExpressibleByStringLiteral {
        let name: String
        /// Where room is short, columns with a rank are left out, the lowest first; those without one stay.
        let rank: Int?
        /// The most columns of the terminal that a text takes; what is longer is cut at its end.
        let most: Int

        init(_ name: String, rank: Int? = nil, most: Int = .max) {
            self.name = name
            self.rank = rank
            self.most = most
        }

        init(stringLiteral name: String) { self.init(name) }
    }

    /// The least that is left of the last column.
    private static let leastOfTheLast = 12

    private let output: StandardOutput
    private let columns: [Column]
    private let width: Int
    private var held: [[Cell]] = []
    private var widths: [Int]
    /// The positions of the columns that are shown; nil before the first row is.
    private var shown: [Int]?

    /// A table with these columns.
    init(_ columns: [Column], to output: StandardOutput) {
        self.columns = columns
        self.output = output
        width = output.width
        widths = columns.map { TextWidth.columns(of: $0.name) }
    }

    /// Adds a row, with a cell for each column.
    mutating func add(_ cells: [Cell]) throws {
        if output.isTerminal {
            held.append(cells)
            if held.count >= 500 { try writeHeld() }
        } else {
            try output.line(cells.map(\.plain).joined(separator: "\t"))
        }
    }

    /// Writes what is still held.
    mutating func finish() throws {
        if !held.isEmpty { try writeHeld() }
        try output.flush()
    }

    private mutating func writeHeld() throws {
        for line in Self.lines(held, columns, width: width, &widths, &shown) { try output.line(line) }
        held.removeAll(keepingCapacity: true)
    }

    /// The rows as lines, under their headings when they are the first.
    static func lines(
        _ rows: [[Cell]], _ columns: [Column], width: Int, _ widths: inout [Int], _ shown: inout [Int]?
    ) -> [String] {
        let texts = rows.map { row in zip(row, columns).map { TextWidth.cut($0.human, to: $1.most) } }
        for row in texts { widths = zip(widths, row).map { max($0, TextWidth.columns(of: $1)) } }
        let isFirst = shown == nil
        let isEmpty = columns.indices.map { position in texts.allSatisfy { $0[position].isEmpty } }
        let positions = shown ?? fitting(columns, widths, isEmpty, to: width)
        shown = positions
        let isNumber = rows.first.map { $0.map(\.isNumber) } ?? []
        func line(_ texts: [String]) -> String {
            var line = ""
            for position in positions {
                if !line.isEmpty { line += "  " }
                let text = texts[position]
                let space = String(repeating: " ", count: max(0, widths[position] - TextWidth.columns(of: text)))
                if isNumber[position] {
                    line += space + text
                } else if position != positions.last {
                    line += text + space
                } else {
                    line += TextWidth.cut(text, to: max(width - TextWidth.columns(of: line), leastOfTheLast))
                }
            }
            return line
        }
        return (isFirst ? [line(columns.map { $0.name.uppercased() })] : []) + texts.map(line)
    }

    /// The columns that fit beside each other; of those that may be left out, the empty ones go first.
    private static func fitting(
        _ columns: [Column], _ widths: [Int], _ isEmpty: [Bool], to width: Int
    ) -> [Int] {
        func worth(_ position: Int) -> Int { isEmpty[position] ? .min : columns[position].rank ?? .max }
        var shown = Array(columns.indices)
        func room(_ position: Int) -> Int {
            // The last one may be cut, unless it is to stay whole.
            position == shown.last && columns[position].rank != nil
                ? min(widths[position], leastOfTheLast) : widths[position]
        }
        while shown.reduce(-2, { $0 + room($1) + 2 }) > width,
            let least = shown.filter({ columns[$0].rank != nil }).min(by: { worth($0) < worth($1) })
        {
            shown.removeAll { $0 == least }
        }
        return shown
    }
}
