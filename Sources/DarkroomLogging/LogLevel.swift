/// How much a line of the log matters, as in swift-log.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    /// Every step, for following one photo.
    case trace
    /// What helps to find a fault.
    case debug
    /// What happens in the regular course of things.
    case info
    /// Regular, but worth a look.
    case notice
    /// Something failed, and work goes on.
    case warning
    /// Something failed that somebody has to mend.
    case error
    /// Nothing goes on until somebody mends it.
    case critical

    /// From `trace`, the lowest, to `critical`.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .trace: 0
        case .debug: 1
        case .info: 2
        case .notice: 3
        case .warning: 4
        case .error: 5
        case .critical: 6
        }
    }
}
