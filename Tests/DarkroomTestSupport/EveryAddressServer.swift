import DarkroomConcurrency
import Foundation

/// An HTTP server on all IPv4 and IPv6 addresses. It counts the connections to each address.
package final class EveryAddressServer: Sendable {
    /// The listening port.
    package let port: UInt16

    private struct State {
        var connections: [String: Int] = [:]
        var requests = 0
    }

    private let listener: Int32
    private let state = Locked(State())

    /// Starts a server. It replies to each request with the complete response that `answer` returns for the path.
    /// Connections stay open for further requests.
    package init(_ answer: @escaping @Sendable (_ path: String) -> String) throws {
        listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in6()  // ::, which also accepts IPv4 connections
        address.sin6_family = sa_family_t(AF_INET6)
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        port = try withUnsafeMutablePointer(to: &address) { [listener] pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                guard bind(listener, general, length) == 0, listen(listener, 1024) == 0,
                    getsockname(listener, general, &length) == 0
                else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            }
            return UInt16(bigEndian: pointer.pointee.sin6_port)
        }
        Thread.detachNewThread { [listener, state] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                let dialled = Self.localAddress(client)
                state.withLock { $0.connections[dialled, default: 0] += 1 }
                Thread.detachNewThread { Self.serve(client, state, answer) }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// The number of connections by destination address. IPv4 addresses have the form `::ffff:127.0.0.1`.
    package var connections: [String: Int] { state.withLock { $0.connections } }

    /// The number of requests.
    package var requests: Int { state.withLock { $0.requests } }

    /// A complete redirect response.
    package static func redirect(to location: String) -> String {
        "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
    }

    /// A complete response with a body.
    package static func body(_ text: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }

    private static func serve(_ client: Int32, _ state: Locked<State>, _ answer: (String) -> String) {
        defer { close(client) }
        var block = [UInt8](repeating: 0, count: 8192)
        while true {
            var head = ""
            while !head.hasSuffix("\r\n\r\n") {
                let count = recv(client, &block, block.count, 0)
                guard count > 0 else { return }
                head += String(decoding: block[..<count], as: UTF8.self)
            }
            state.withLock { $0.requests += 1 }
            let path = String(head.split(separator: " ").dropFirst().first ?? "")
            let response = Array(answer(path).utf8)
            guard send(client, response, response.count, Int32(MSG_NOSIGNAL)) == response.count else { return }
        }
    }

    private static func localAddress(_ client: Int32) -> String {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(client, $0, &length) }
        }
        guard status == 0 else { return "" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, &address.sin6_addr, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
