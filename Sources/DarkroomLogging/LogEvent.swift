/// One thing that happened, to become one line.
package struct LogEvent: Sendable {
    /// How much it matters.
    package let level: LogLevel
    /// Which part of the program says so.
    package let label: String
    /// What happened, in constant words: what varies is metadata.
    package let message: String
    /// With whom, and how.
    package let metadata: LogMetadata
    /// What makes a repeat: the same message with the same key; nil: with the same metadata.
    package let key: String?
}

extension LogEvent {
    /// The most bytes of a line: what a pipe takes from several writers without mixing them (PIPE_BUF, pipe(7)).
    static let maxLineBytes = 4096

    /// The line of this event with the line feed at its end.
    /// - Parameters:
    ///   - time: when, in ms since 1970.
    ///   - leftOut: how many repeats of it were left out since the last that was written.
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

    /// The event as people read it, without its time: `warning worker: photo failed batch=... photo=17 reason=timeout`.
    /// - Parameter leftOut: how many repeats of it were left out since the last that was shown.
    package func text(leftOut: Int = 0) -> String {
        // The time is what stands before the first blank.
        let line = line(.readable, time: 0, leftOut: leftOut).dropLast()
        return String(decoding: line.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
    }

    /// Room for `leftOut`, `isCut` and the end.
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

/// How a line looks.
package enum LogFormat: String, Sendable, CaseIterable {
    /// `2026-11-21T09:05:01.123Z warning worker: photo failed batch=... photo=17 reason=timeout`
    case readable
    /// One JSON object a line.
    case json
}
