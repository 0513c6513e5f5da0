import Darkroom

/// A server-sent event: https://html.spec.whatwg.org/multipage/server-sent-events.html
struct LiveMessage: Sendable, Equatable {
    let bytes: [UInt8]

    /// - Parameter data: its text has no line breaks, because JSON escapes them.
    init(_ event: StaticString, _ data: JSON) {
        bytes = Array("event: \(event)\ndata: ".utf8) + Array(data.text.utf8) + Array("\n\n".utf8)
    }

    /// A comment that clients ignore. It shows whether the client is still there.
    static let heartbeat = Array(":\n\n".utf8)
}
