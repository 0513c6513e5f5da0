/// A command of Redis. Its name and its arguments may contain any bytes.
package struct RedisCommand: Sendable, Equatable {
    /// The name of the command, followed by its arguments.
    package var arguments: [[UInt8]]

    /// Creates a command from strings: `RedisCommand("SET", "key", "value")`.
    package init(_ strings: String...) { self.init(strings) }

    /// Creates a command of any number of strings.
    package init(_ strings: [String]) { arguments = strings.map { Array($0.utf8) } }

    /// Creates a command from bytes, the name first.
    package init(arguments: [[UInt8]]) {
        self.arguments = arguments
    }

    /// The name of the command, for error messages.
    var name: String { arguments.first.map { String(decoding: $0, as: UTF8.self) } ?? "(empty command)" }
}
