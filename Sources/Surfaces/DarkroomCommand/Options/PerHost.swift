import ArgumentParsing
import DarkroomText

/// The value of `--per-host`.
enum PerHost: ExpressibleByArgument, Equatable {
    case auto
    case fixed(Int)

    init(argument: String) throws {
        if argument == "auto" {
            self = .auto
        } else if let count = Int(argument) {
            self = .fixed(count)
        } else {
            throw InvalidValue("write auto, or a number such as 6")
        }
    }

    var argumentText: String {
        switch self {
        case .auto: "auto"
        case .fixed(let count): String(count)
        }
    }

    /// The number of requests; nil if the worker learns it.
    var count: Int? {
        if case .fixed(let count) = self { count } else { nil }
    }
}

/// A number of requests in a second, a minute or an hour: `10/s`, `30/m`, `0.5/s`.
struct RequestRate: ExpressibleByArgument, Equatable {
    private static let units = ["s": 1.0, "m": 60, "h": 3600]

    let argumentText: String
    let perSecond: Double

    init(argument: String) throws {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Double(parts[0]), count.isFinite, count > 0,
            let seconds = Self.units[String(parts[1])]
        else { throw InvalidValue("write a number of requests and a unit, such as 10/s, 30/m or 100/h") }
        argumentText = argument
        perSecond = count / seconds
        guard (0.001...10_000).contains(perSecond) else { throw InvalidValue("from 1 in 1,000 s to 10,000/s") }
    }
}
