/// Limits repeats of events: returns the first event at once, and after it at most one repeat per second, with the
/// number of omitted repeats.
///
/// DESIGN: events are stored by message and key for one to two seconds after they were written; at most `capacity`
/// events are stored. The last omitted repeat of an event is also stored. It becomes due 1 s after the event was last
/// written, and is written within another second even if no further event occurs. Therefore no count is lost. The
/// parameter `now` of each call is the time of a monotonic clock in ms.
struct RepeatLimiter {
    /// An event to write.
    struct Line {
        let event: LogEvent
        /// The time of the event, in ms since 1970.
        let time: Int
        let leftOut: Int
    }

    private struct Key: Hashable {
        let level: LogLevel
        let label: String
        let message: String
        let key: String?
        let metadata: LogMetadata?
    }

    private struct Recent {
        var written: Int
        var leftOut = 0
        var last: Line?
    }

    private let capacity: Int
    private let interval = 1000
    private var recent: [Key: Recent] = [:]
    private var nextSweep = Int.min

    init(capacity: Int = 512) { self.capacity = capacity }

    /// Adds an event with the time `time` (ms since 1970).
    /// - Returns: The events to write now, in order.
    mutating func take(_ event: LogEvent, time: Int, now: Int) -> [Line] {
        var lines = due(now: now)
        let key = Key(
            level: event.level, label: event.label, message: event.message, key: event.key,
            metadata: event.key == nil ? event.metadata : nil)
        if var known = recent[key], now - known.written < interval {
            known.leftOut += 1
            known.last = Line(event: event, time: time, leftOut: known.leftOut - 1)
            recent[key] = known
            return lines
        }
        if recent[key] == nil, recent.count >= capacity { lines += makeRoom() }
        lines.append(Line(event: event, time: time, leftOut: recent[key]?.leftOut ?? 0))
        recent[key] = Recent(written: now)
        return lines
    }

    /// Returns the omitted repeats that are due, because no event with their message and key was written for 1 s.
    mutating func due(now: Int) -> [Line] {
        guard now >= nextSweep else { return [] }
        nextSweep = now + interval
        var lines: [Line] = []
        for (key, known) in recent where now - known.written >= interval {
            if let last = known.last {
                lines.append(last)
                recent[key] = Recent(written: now)
            } else {
                recent[key] = nil
            }
        }
        return lines.sorted { $0.time < $1.time }
    }

    /// Returns all omitted repeats that have not been written yet.
    mutating func all() -> [Line] {
        defer { recent = [:] }
        return recent.values.compactMap(\.last).sorted { $0.time < $1.time }
    }

    var count: Int { recent.count }

    /// Removes the oldest quarter of the stored events, and returns their omitted repeats.
    private mutating func makeRoom() -> [Line] {
        let oldest = recent.sorted { $0.value.written < $1.value.written }.prefix(max(1, capacity / 4))
        for (key, _) in oldest { recent[key] = nil }
        return oldest.compactMap(\.value.last)
    }
}
