import DarkroomText
import Glibc

/// The two clocks of a log: the wall clock for timestamps and a monotonic clock for intervals.
package struct LogClock: Sendable {
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int
    /// Milliseconds of a monotonic clock.
    let elapsed: @Sendable () -> Int

    package static let system = LogClock(
        now: { milliseconds(CLOCK_REALTIME) }, elapsed: { milliseconds(CLOCK_MONOTONIC) })

    /// Milliseconds since 1970 as ISO 8601 in UTC: `2026-11-21T09:05:01.123Z`.
    static func text(_ milliseconds: Int) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let date = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map { $0.padded(to: 2) }
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.padded(to: 2) }
        let fraction = (milliseconds % 1000).padded(to: 3)
        return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(fraction)Z"
    }

    private static func milliseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
