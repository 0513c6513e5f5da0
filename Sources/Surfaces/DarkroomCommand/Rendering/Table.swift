import Darkroom

/// A table: on a terminal, aligned columns under headings; in a pipe, lines of tab-separated values, without headings
/// unless `--header` is given.
///
/// If the terminal is too narrow, columns are omitted, the least important first; if this is not enough, the last
/// column is cut. A pipe gets all columns in full. Only the first rows are held in memory, to compute the widths of the
/// columns, so a table can have any number of rows.
struct Table {
    struct Column: ExpressibleByStringLiteral {
        let name: String
        /// If the terminal is too narrow, columns with a rank are omitted, the lowest rank first. Columns without a
        /// rank stay.
        let rank: Int?
        /// The largest width of a text in terminal columns; a wider text is cut at its end.
        let most: Int

        init(_ name: String, rank: Int? = nil, most: Int = .max) {
            self.name = name
            self.rank = rank
            self.most = most
        }

        init(stringLiteral name: String) { self.init(name) }
    }

    /// The smallest width to which the last column is cut.
    private static let leastOfTheLast = 12

    private let output: StandardOutput
    private let options: TableOptions
    private let columns: [Column]
    private let width: Int
    private var held: [[Cell]] = []
    private var widths: [Int]
    /// Whether the header row was written; only in a pipe.
    private var hasHeader = false
    /// The positions of the shown columns; nil before the first row is written.
    private var shown: [Int]?

    init(_ columns: [Column], _ options: TableOptions, to output: StandardOutput) {
        self.columns = columns
        self.options = options
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
            try writeHeader()
            try output.line(cells.map(\.plain).joined(separator: "\t"))
        }
    }

    mutating func finish() throws {
        if !output.isTerminal { try writeHeader() }
        if !held.isEmpty { try writeHeld() }
        try output.flush()
    }

    /// Writes the names of the columns, if `--header` is given and they are not written yet.
    private mutating func writeHeader() throws {
        guard options.header, !hasHeader else { return }
        hasHeader = true
        try output.line(columns.map(\.name).joined(separator: "\t"))
    }

    private mutating func writeHeld() throws {
        for line in Self.lines(held, columns, width: width, &widths, &shown) { try output.line(line) }
        held.removeAll(keepingCapacity: true)
    }

    /// The rows as lines, with the headings above them if they are the first rows of the table.
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

    /// The columns that fit into the width. Empty columns with a rank are omitted first.
    private static func fitting(
        _ columns: [Column], _ widths: [Int], _ isEmpty: [Bool], to width: Int
    ) -> [Int] {
        func worth(_ position: Int) -> Int { isEmpty[position] ? .min : columns[position].rank ?? .max }
        var shown = Array(columns.indices)
        func room(_ position: Int) -> Int {
            // The last column may be cut if it has a rank.
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
