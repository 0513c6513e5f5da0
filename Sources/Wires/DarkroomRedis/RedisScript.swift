internal import CCrypto

/// A Lua script. Each connection loads the script when it is established, and sends the source again if the server has
/// lost the script.
package struct RedisScript: Sendable, Equatable {
    package let name: String
    package let source: [UInt8]
    /// SHA-1 of the source in 40 lower-case hexadecimal digits, the argument of EVALSHA.
    package let sha1: String

    /// Creates a script and computes its SHA-1 locally.
    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
        sha1 = Self.sha1(of: source)
    }

    /// The EVALSHA command for this script.
    package func command(keys: [[UInt8]], arguments: [[UInt8]] = []) -> RedisCommand {
        var all: [[UInt8]] = [Self.evalsha, Array(sha1.utf8), Array(String(keys.count).utf8)]
        all.reserveCapacity(all.count + keys.count + arguments.count)
        all += keys
        all += arguments
        return RedisCommand(arguments: all)
    }

    /// Converts an EVALSHA command to an EVAL command with the source, which also loads the script.
    func evaluation(of command: RedisCommand) -> RedisCommand {
        var evaluation = command
        evaluation.arguments[0] = Array("EVAL".utf8)
        evaluation.arguments[1] = source
        return evaluation
    }

    private static let evalsha = Array("EVALSHA".utf8)

    private static func sha1(of bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 20)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil)
        precondition(done == 1, "libcrypto refuses SHA-1, which EVALSHA needs")
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
