import Darkroom

/// One value of a table, with a text for terminals and a text for pipes.
enum Cell {
    case text(String)
    case count(Int?)
    /// An index or a size: a number that users copy, so it is never abbreviated.
    case number(Int?)
    case bytes(Int?)
    case rate(Double?)
    case milliseconds(Int?)

    /// The text for a terminal.
    var human: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number): number.map { HumanText.count($0) } ?? "-"
        case .number(let number): number.map(String.init) ?? "-"
        case .bytes(let count): count.map(HumanText.bytes) ?? "-"
        case .rate(let rate): rate.map(HumanText.rate) ?? "-"
        case .milliseconds(let time): time.map { HumanText.duration(Double($0) / 1000) } ?? "-"
        }
    }

    /// The text for a program: numbers without units, and an empty text for a missing value.
    var plain: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number), .number(let number), .bytes(let number), .milliseconds(let number):
            number.map(String.init) ?? ""
        case .rate(let rate): rate.map { JSON($0, decimals: 2).text } ?? ""
        }
    }

    /// Whether the column is aligned to the right.
    var isNumber: Bool {
        switch self {
        case .text: false
        case .count, .number, .bytes, .rate, .milliseconds: true
        }
    }
}
