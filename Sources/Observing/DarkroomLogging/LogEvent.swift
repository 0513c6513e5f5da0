/// One log event, written as one line.
package struct LogEvent: Sendable {
    package let level: LogLevel
    /// The part of the program that logged the event.
    package let label: String
    /// The event as constant text. Variable values are in the metadata.
    package let message: String
    package let metadata: LogMetadata
    /// Events with the same message and key are repeats. If the key is nil, events with the same message are repeats
    /// only if they also have the same metadata.
    package let key: String?
}

extension LogEvent {
    /// The largest number of bytes of a line. Up to this size, lines that several processes write to a pipe do not mix
    /// (PIPE_BUF, pipe(7)).
    static let maxLineBytes = 4096

    /// The event as a line, including the final line feed.
    /// - Parameters:
    ///   - time: The time in ms since 1970.
    ///   - leftOut: The number of repeats that were omitted since the last written repeat.
    func line(_ format: LogFormat, time: Int, leftOut: Int) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        appendHead(format, time, to: &line)
        var isCut = false
        for item in metadata.items {
            var text: [UInt8] = []
            Self.append(item.key.name, item.value, format, to: &text)
            if line.count + text.count + Self.tailBytes <= Self.maxLineBytes { line += text } else { isCut = true }
        }
        if leftOut > 0 { Self.append("leftOut", .number(leftOut), format, to: &line) }
        if isCut { Self.append("isCut", true, format, to: &line) }
        line += format == .json ? "}\n".utf8 : "\n".utf8
        return line
    }

    /// The event as readable text, excluding its time:
    /// `warning worker: photo failed batch=... photo=17 reason=timeout`.
    /// - Parameter leftOut: The number of repeats that were omitted since the last shown repeat.
    package func text(leftOut: Int = 0) -> String {
        // The line begins with the time, which ends at the first space.
        let line = line(.readable, time: 0, leftOut: leftOut).dropLast()
        return String(decoding: line.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
    }

    /// Bytes reserved for `leftOut`, `isCut` and the line's end.
    private static let tailBytes = 64

    private func appendHead(_ format: LogFormat, _ time: Int, to line: inout [UInt8]) {
        switch format {
        case .json:
            line += "{\"time\":\"\(LogClock.text(time))\",\"level\":\"\(level)\",\"logger\":".utf8
            LogText.appendJSON(label, to: &line)
            line += ",\"message\":".utf8
            LogText.appendJSON(message, to: &line)
        case .readable:
            line += "\(LogClock.text(time)) \(level) \(label): \(message)".utf8
        }
    }

    private static func append(
        _ name: String, _ value: LogMetadata.Value, _ format: LogFormat, to line: inout [UInt8]
    ) {
        line += format == .json ? ",\"\(name)\":".utf8 : " \(name)=".utf8
        switch value.kind {
        case .text(let text):
            if format == .json { LogText.appendJSON(text, to: &line) } else { LogText.appendReadable(text, to: &line) }
        case .integer(let number): line += String(number).utf8
        case .number(let number): line += (number.isFinite ? String(number) : "null").utf8
        case .bool(let value): line += String(value).utf8
        }
    }
}

/// The format of a line.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `2026-11-21T09:05:01.123Z warning worker: photo failed batch=... photo=17 reason=timeout`
    case readable
    /// One JSON object per line.
    case json
}
