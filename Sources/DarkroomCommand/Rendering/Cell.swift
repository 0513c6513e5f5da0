/// One value of a table: as people read it on a terminal, or as programs read it from a pipe.
enum Cell {
    case text(String)
    case count(Int?)
    case bytes(Int?)
    case rate(Double?)
    case seconds(Double?)
    /// In ms since 1970.
    case time(Int?)

    /// For a terminal.
    var human: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number): number.map { HumanText.count($0) } ?? "-"
        case .bytes(let count): count.map(HumanText.bytes) ?? "-"
        case .rate(let rate): rate.map(HumanText.rate) ?? "-"
        case .seconds(let seconds): seconds.map(HumanText.duration) ?? "-"
        case .time(let time): time.map(HumanText.localTime) ?? "-"
        }
    }

    /// For a program: numbers without units, times as ISO 8601, nothing where there is nothing.
    var plain: String {
        switch self {
        case .text(let text): HumanText.safe(text)
        case .count(let number), .bytes(let number): number.map(String.init) ?? ""
        case .rate(let rate): rate.map { JSON($0, decimals: 2).text } ?? ""
        case .seconds(let seconds): seconds.map { JSON($0, decimals: 3).text } ?? ""
        case .time(let time): time.map(HumanText.iso8601) ?? ""
        }
    }

    /// Numbers stand at the right.
    var isNumber: Bool {
        switch self {
        case .text, .time: false
        case .count, .bytes, .rate, .seconds: true
        }
    }
}
