import DarkroomModel

/// Writes the JSON encoding of the OpenTelemetry protocol:
/// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
enum OTLP {
    /// A request with the spans of traces.
    static func request(_ traces: ArraySlice<PhotoTrace>, of resource: [(key: String, value: String)]) -> [UInt8] {
        let clock = TraceClock()
        var text: [UInt8] = []
        text.reserveCapacity(500 + traces.count * 1700)
        text += "{\"resourceSpans\":[{\"resource\":{\"attributes\":[".utf8
        for (key, value) in resource { append(key, value, to: &text) }
        text +=
            "]},\"scopeSpans\":[{\"scope\":{\"name\":\"darkroom\",\"version\":\"\(darkroomVersion)\"},\"spans\":[".utf8
        for (position, trace) in traces.enumerated() {
            if position > 0 { text += ",".utf8 }
            trace.append(to: &text, clock)
        }
        text += "]}]}]}".utf8
        return text
    }

    /// Appends an attribute. A comma precedes the attribute unless it is the first of its list.
    static func append(_ key: String, _ value: String, to text: inout [UInt8]) {
        append(key, to: &text)
        text += "\"stringValue\":".utf8
        JSONText.append(value, to: &text)
        text += "}}".utf8
    }

    /// Appends an attribute. In this encoding, a 64-bit integer is a string.
    static func append(_ key: String, _ value: Int, to text: inout [UInt8]) {
        append(key, to: &text)
        text += "\"intValue\":\"\(value)\"}}".utf8
    }

    private static func append(_ key: String, to text: inout [UInt8]) {
        if text.last != UInt8(ascii: "[") { text += ",".utf8 }
        text += "{\"key\":".utf8
        JSONText.append(key, to: &text)
        text += ",\"value\":{".utf8
    }
}
