/// A command: its name and arguments, any bytes.
public struct RedisCommand: Sendable, Equatable {
    /// The name first, then the arguments.
    public var arguments: [[UInt8]]

    /// A command of texts: `RedisCommand("SET", "key", "value")`.
    public init(_ strings: String...) {
        arguments = strings.map { Array($0.utf8) }
    }

    /// A command of bytes, the name first.
    public init(arguments: [[UInt8]]) {
        self.arguments = arguments
    }

    /// The name, for errors.
    var name: String { arguments.first.map { String(decoding: $0, as: UTF8.self) } ?? "(empty command)" }
}
