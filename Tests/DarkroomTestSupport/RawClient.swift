import Foundation
import Glibc

/// A TCP connection to a server on the loopback address, for requests that no HTTP client would send.
package final class RawClient {
    package let descriptor: Int32

    /// - Parameter receiveBuffer: the size of the receive buffer in bytes; nil for the default of the system.
    package init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { Glibc.close(descriptor) }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes. Stops at an error, since servers close connections of such clients.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Tells the server that no more bytes follow.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads until the text contains `end`, the server closes the connection, or `timeout` seconds have passed.
    package func read(until end: String? = nil, timeout: Int = 10) -> String {
        String(decoding: readBytes(until: end, timeout: timeout), as: UTF8.self)
    }

    package func readBytes(until end: String? = nil, timeout: Int = 10) -> [UInt8] {
        let deadline = ContinuousClock.now + .seconds(timeout)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            if let end, String(decoding: bytes, as: UTF8.self).contains(end) { return bytes }
            let left = Int((deadline - .now) / .microseconds(1))
            guard left > 0 else { return bytes }
            var wait = timeval(tv_sec: left / 1_000_000, tv_usec: left % 1_000_000)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Waits until the server closes the connection; false if it is open after `timeout` seconds.
    package func waitForClose(timeout: Int = 10) -> Bool {
        var wait = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { continue }
            return count == 0 || errno == ECONNRESET
        }
    }

    /// Sends a request and reads its response, at most until the server closes the connection.
    package static func fetch(_ request: String, port: UInt16) throws -> String {
        let client = try RawClient(port: port)
        client.send(request)
        return client.read()
    }
}
