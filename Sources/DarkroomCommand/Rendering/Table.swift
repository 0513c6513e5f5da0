import Darkroom

/// Rows in columns under headings on a terminal; in a pipe a line of values with tabs between them, without headings.
///
/// Rows are held until there are enough to know how wide columns are, then written; so a table may be of any length.
struct Table {
    private let output: StandardOutput
    private let headings: [String]
    private var held: [[Cell]] = []
    private var widths: [Int]
    private var hasHeadings = false

    /// A table with these headings.
    init(_ headings: [String], to output: StandardOutput) {
        self.headings = headings
        self.output = output
        widths = headings.map(\.count)
    }

    /// Adds a row, with a cell for each heading.
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
        let rows = held.map { $0.map(\.human) }
        let isNumber = held[0].map(\.isNumber)
        for row in rows { widths = zip(widths, row).map { max($0, $1.count) } }
        if !hasHeadings { try output.line(line(headings.map { $0.uppercased() }, isNumber)) }
        hasHeadings = true
        for row in rows { try output.line(line(row, isNumber)) }
        held.removeAll(keepingCapacity: true)
    }

    /// The texts side by side; the last is cut where the terminal ends.
    private func line(_ texts: [String], _ isNumber: [Bool]) -> String {
        var line = ""
        for (column, text) in texts.enumerated() {
            if column > 0 { line += "  " }
            let space = String(repeating: " ", count: widths[column] - text.count)
            if isNumber[column] {
                line += space + text
            } else if column < texts.count - 1 {
                line += text + space
            } else {
                let room = max(output.width - line.count, 12)
                line += text.count > room ? text.prefix(room - 1) + "\u{2026}" : text
            }
        }
        return line
    }
}
