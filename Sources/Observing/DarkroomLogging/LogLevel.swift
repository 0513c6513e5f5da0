/// The severity of a log event, as in swift-log.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    /// Every step of every photo.
    case trace
    /// Details that help to find a fault.
    case debug
    /// Normal events.
    case info
    /// Normal events that deserve attention.
    case notice
    /// Something failed, but work continues.
    case warning
    /// Something failed that an operator must fix.
    case error

    /// `trace` is the lowest level, `error` the highest.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        }
    }
}
