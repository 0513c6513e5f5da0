/// A reply of Redis (protocol version 2).
package enum RedisValue: Sendable, Equatable {
    /// The null bulk string and the null array: no such key; `false` from a script.
    case null
    /// An integer.
    case integer(Int)
    /// A status such as `OK` or `PONG`.
    case status(String)
    /// A bulk string: any bytes.
    case bytes([UInt8])
    /// An array, which may be nested.
    case array([RedisValue])
    /// An error *inside* an array (of EXEC, for example). A command that is answered by an error fails with
    /// ``RedisError/Code/server`` instead.
    case error(String)

    /// The text of a status or of bytes that are UTF-8; else nil.
    package var string: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        case .null, .integer, .array, .error: nil
        }
    }

    /// An integer, also one written in decimal as hashes and scripts return it; else nil.
    package var int: Int? {
        switch self {
        case .integer(let value): value
        case .status, .bytes: string.flatMap { Int($0) }
        case .null, .array, .error: nil
        }
    }

    /// The bytes of a bulk string; else nil.
    package var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The elements of an array; else nil.
    package var array: [RedisValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
