import DarkroomText

/// The path of a file, which need not be UTF-8.
struct FilePath: Sendable, Equatable, CustomStringConvertible, ExpressibleByStringInterpolation {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(stringLiteral text: String) { self.init(Array(text.utf8)) }

    /// The path in messages.
    var description: String { String(decoding: bytes, as: UTF8.self) }
}
