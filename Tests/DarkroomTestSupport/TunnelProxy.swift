import DarkroomConcurrency
import Foundation

/// A proxy on 127.0.0.1 that understands CONNECT and SOCKS 5. It resolves no names: each connection goes to the same port of
/// the loopback interface.
package final class TunnelProxy: Sendable {
    package let port: Int
    private let listener: Int32
    private let upstream: Int
    private let password: String?
    private let state = Locked((targets: [String](), heads: [String](), credentials: [String]()))

    /// - Parameters:
    ///   - upstream: The loopback port to which the proxy connects every client, whatever host the client names.
    ///   - password: The password that SOCKS clients must give; nil if they need none.
    package init(to upstream: Int, password: String? = nil) throws {
        self.upstream = upstream
        self.password = password
        port = try RedisServer.freePort()
        listener = try Loopback.listen(on: port)
        Thread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Thread { [self] in serve(client) }.start()
            }
        }.start()
    }

    /// The `HOST:PORT` that each client names, with CONNECT or SOCKS, in the order of the requests.
    package var targets: [String] { state.withLock { $0.targets } }
    /// The heads of the CONNECT requests.
    package var heads: [String] { state.withLock { $0.heads } }
    /// The users and passwords of SOCKS, as `USER:PASSWORD`.
    package var credentials: [String] { state.withLock { $0.credentials } }

    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ client: Int32) {
        defer { close(client) }
        guard let first = Self.read(client, 1)?.first else { return }
        guard first == 5 ? negotiate(client) : connect(client, first) else { return }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(server) }
        guard Loopback.connect(server, to: upstream) else { return }
        let done = DispatchSemaphore(value: 0)
        Thread {
            Self.pump(server, client)
            done.signal()
        }.start()
        Self.pump(client, server)
        done.wait()
    }

    private func connect(_ client: Int32, _ first: UInt8) -> Bool {
        var head = [first]
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            guard let next = Self.read(client, 1) else { return false }
            head += next
        }
        let text = String(decoding: head, as: UTF8.self)
        state.withLock {
            $0.heads.append(text)
            $0.targets.append(String(text.split(separator: " ").dropFirst().first ?? ""))
        }
        return Self.write(client, Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))
    }

    private func negotiate(_ client: Int32) -> Bool {
        guard let count = Self.read(client, 1)?.first, let methods = Self.read(client, Int(count)) else { return false }
        let method: UInt8 = password == nil ? 0 : 2
        guard methods.contains(method), Self.write(client, [5, method]) else { return false }
        if let password {
            guard let head = Self.read(client, 2), let user = Self.read(client, Int(head[1])),
                let length = Self.read(client, 1)?.first, let given = Self.read(client, Int(length))
            else { return false }
            let text = String(decoding: given, as: UTF8.self)
            state.withLock { $0.credentials.append("\(String(decoding: user, as: UTF8.self)):\(text)") }
            guard Self.write(client, [1, text == password ? 0 : 1]), text == password else { return false }
        }
        // Only names: clients with socks5h send nothing else for a name.
        guard let head = Self.read(client, 5), head[3] == 3, let name = Self.read(client, Int(head[4])),
            let port = Self.read(client, 2)
        else { return false }
        state.withLock {
            $0.targets.append("\(String(decoding: name, as: UTF8.self)):\(Int(port[0]) << 8 | Int(port[1]))")
        }
        return Self.write(client, [5, 0, 0, 1, 127, 0, 0, 1, 0, 0])
    }

    private static func pump(_ from: Int32, _ to: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(from, &bytes, bytes.count, 0), count > 0 {
            guard write(to, Array(bytes[..<count])) else { break }
        }
        for socket in [from, to] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private static func read(_ socket: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return bytes }
        return recv(socket, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    private static func write(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
