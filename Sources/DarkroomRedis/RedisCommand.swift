/// A command: its name and arguments, any bytes.
package struct RedisCommand: Sendable, Equatable {
    /// The name first, then the arguments.
    package var arguments: [[UInt8]]

    /// A command of texts: `RedisCommand("SET", "key", "value")`.
    package init(_ strings: String...) {
        arguments = strings.map { Array($0.utf8) }
    }

    /// A command of bytes, the name first.
    package init(arguments: [[UInt8]]) {
        self.arguments = arguments
    }

    /// The name, for errors.
    var name: String { arguments.first.map { String(decoding: $0, as: UTF8.self) } ?? "(empty command)" }
}
