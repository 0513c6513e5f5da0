/// Lets the first of a message through at once and then at most one a second, with how many were left out.
///
/// DESIGN: what was written lately is remembered by message and key, for a second or two and at most `capacity` of them.
/// The last one left out is kept, and comes when its second is over even though no other does: a count is never lost.
/// Time is given with each call, in ms of a clock that never jumps.
struct RepeatLimiter {
    /// An event that is to be written.
    struct Line {
        let event: LogEvent
        /// When it happened, in ms since 1970.
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

    /// Takes an event of `time` (ms since 1970).
    /// - Returns: what is to be written now, in order.
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

    /// What was left out and not told of for a second.
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

    /// All that was left out and not told of.
    mutating func all() -> [Line] {
        defer { recent = [:] }
        return recent.values.compactMap(\.last).sorted { $0.time < $1.time }
    }

    /// How many messages are remembered.
    var count: Int { recent.count }

    /// Forgets the oldest quarter, and returns what they left out.
    private mutating func makeRoom() -> [Line] {
        let oldest = recent.sorted { $0.value.written < $1.value.written }.prefix(max(1, capacity / 4))
        for (key, _) in oldest { recent[key] = nil }
        return oldest.compactMap(\.value.last)
    }
}
