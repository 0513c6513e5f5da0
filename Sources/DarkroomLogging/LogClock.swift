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
        func padded(_ number: some BinaryInteger, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        return padded(parts.tm_year + 1900, 4) + "-" + padded(parts.tm_mon + 1, 2) + "-" + padded(parts.tm_mday, 2)
            + "T" + padded(parts.tm_hour, 2) + ":" + padded(parts.tm_min, 2) + ":" + padded(parts.tm_sec, 2)
            + "." + padded(milliseconds % 1000, 3) + "Z"
    }

    private static func milliseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
