import Darkroom

/// A server-sent event: https://html.spec.whatwg.org/multipage/server-sent-events.html
struct LiveMessage: Sendable, Equatable {
    let bytes: [UInt8]

    /// - Parameter data: becomes a single line, because JSON escapes line breaks.
    init(_ event: StaticString, _ data: JSON) {
        bytes = Array("event: \(event)\ndata: ".utf8) + Array(data.text.utf8) + Array("\n\n".utf8)
    }

    /// A comment that clients ignore. Sending it shows whether the client is still connected.
    static let heartbeat = Array(":\n\n".utf8)
}
