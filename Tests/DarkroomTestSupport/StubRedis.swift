import DarkroomConcurrency
import Foundation

/// A server on a Unix socket that replies to PING and INFO in the Redis protocol. It simulates versions and settings
/// that the installed redis-server does not have. It rejects scripts, like Redis before 7.0.
package final class StubRedis: Sendable {
    /// The path of the socket.
    package let socketPath: String

    private let listener: Int32
    private let information: String
    private let scratch: ScratchFolder

    /// Starts the server. `information` is the reply to INFO, one field per line.
    package init(information: [String]) throws {
        self.information = information.joined(separator: "\r\n") + "\r\n"
        scratch = try ScratchFolder(in: "/tmp")
        socketPath = scratch.path("redis.sock")
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread { [listener, information = self.information] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread { Self.serve(client, information) }.start()
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(_ client: Int32, _ information: String) {
        defer { close(client) }
        guard let stream = fdopen(dup(client), "r") else { return }
        defer { fclose(stream) }
        while let command = readCommand(stream) {
            let reply =
                switch command.first?.uppercased() {
                case "PING": "+PONG\r\n"
                case "INFO" where command.count <= 2: "$\(information.utf8.count)\r\n\(information)\r\n"
                case "SCRIPT": "-ERR Error compiling script (new function): unexpected symbol near '#'\r\n"
                default: "-ERR unknown command\r\n"
                }
            guard Array(reply.utf8).withUnsafeBytes({ write(client, $0.baseAddress, $0.count) }) > 0 else { return }
        }
    }

    /// Reads a command: `*n`, then n times `$length` and the bytes. Returns nil at the end of the stream.
    private static func readCommand(_ stream: UnsafeMutablePointer<FILE>) -> [String]? {
        func number(_ mark: String) -> Int? {
            var line: UnsafeMutablePointer<CChar>?
            var capacity = 0
            defer { free(line) }
            guard getline(&line, &capacity, stream) > 0, let line else { return nil }
            let text = String(cString: line)
            return text.hasPrefix(mark) ? Int(text.dropFirst().filter(\.isNumber)) : nil
        }
        guard let count = number("*") else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = number("$") else { return nil }
            var bytes = [UInt8](repeating: 0, count: length + 2)
            guard fread(&bytes, 1, bytes.count, stream) == bytes.count else { return nil }
            words.append(String(decoding: bytes.dropLast(2), as: UTF8.self))
        }
        return words
    }
}
