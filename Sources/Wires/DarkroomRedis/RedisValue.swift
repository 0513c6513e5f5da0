/// A Redis reply (protocol version 2).
package enum RedisValue: Sendable, Equatable {
    /// The null bulk string or the null array, for example for a missing key, or for `false` from a script.
    case null
    case integer(Int)
    /// A status, for example `OK` or `PONG`.
    case status(String)
    /// A bulk string: any bytes.
    case bytes([UInt8])
    case array([RedisValue])
    /// An error *inside* an array, for example in the reply to EXEC. If the whole reply is an error, the command fails
    /// with ``RedisError/Code/server`` instead.
    case error(String)

    /// The text of a status, or of a bulk string that is valid UTF-8; otherwise nil.
    package var string: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
        case .null, .integer, .array, .error: nil
        }
    }

    /// An integer, or the decimal number in a status or bulk string (as in hash fields and script results); otherwise
    /// nil.
    package var int: Int? {
        switch self {
        case .integer(let value): value
        case .status, .bytes: string.flatMap { Int($0) }
        case .null, .array, .error: nil
        }
    }

    /// The bytes of a bulk string; otherwise nil.
    package var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The elements of an array; otherwise nil.
    package var array: [RedisValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
