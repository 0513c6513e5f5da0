import Darkroom

/// One value of a table: as people read it on a terminal, or as programs read it from a pipe.
enum Cell {
    case text(String)
    /// How many.
    case count(Int?)
    /// Which one, or how large: a number that people copy.
    case number(Int?)
    case bytes(Int?)
    case rate(Double?)

    /// For a terminal.
    var human: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number): number.map { HumanText.count($0) } ?? "-"
        case .number(let number): number.map(String.init) ?? "-"
        case .bytes(let count): count.map(HumanText.bytes) ?? "-"
        case .rate(let rate): rate.map(HumanText.rate) ?? "-"
        }
    }

    /// For a program: numbers without units, nothing where there is nothing.
    var plain: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number), .number(let number), .bytes(let number): number.map(String.init) ?? ""
        case .rate(let rate): rate.map { JSON($0, decimals: 2).text } ?? ""
        }
    }

    /// Numbers stand at the right.
    var isNumber: Bool {
        switch self {
        case .text: false
        case .count, .number, .bytes, .rate: true
        }
    }
}
