import Foundation
import Glibc
import Testing

/// A TCP connection to a server on the loopback address, for requests that no HTTP client would send.
package final class RawClient {
    package let descriptor: Int32
    /// Bytes that were received and not yet read.
    private var received: [UInt8] = []

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

    /// Ends the connection as a client that crashes: the server gets a reset (RST).
    package func reset() {
        var option = sockaddr()
        option.sa_family = sa_family_t(AF_UNSPEC)
        Glibc.connect(descriptor, &option, socklen_t(MemoryLayout<sockaddr>.size))
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends bytes. Stops at an error, since servers close connections of such clients.
    package func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if sent < 0, errno == EINTR { continue }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Tells the server that no more bytes follow.
    package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads up to and including `end`. Records an issue if the server closes the connection before that, or if `timeout`
    /// seconds have passed.
    @discardableResult
    package func read(until end: String, timeout: Int = 60, at location: SourceLocation = #_sourceLocation) -> String {
        let wanted = Array(end.utf8)
        var searched = 0
        receive(timeout: timeout) { bytes in
            guard let found = bytes[searched...].firstRange(of: wanted) else {
                searched = max(0, bytes.count - wanted.count)
                return false
            }
            searched = found.upperBound
            return true
        }
        guard received[..<searched].suffix(wanted.count).elementsEqual(wanted) else {
            let text = String(decoding: received.suffix(2000), as: UTF8.self)
            Issue.record("waited \(timeout) s for \(end), received \(text)", sourceLocation: location)
            return text
        }
        defer { received.removeFirst(searched) }
        return String(decoding: received[..<searched], as: UTF8.self)
    }

    /// Reads until the server closes the connection, or `timeout` seconds have passed.
    package func read(timeout: Int = 60) -> String { String(decoding: readBytes(timeout: timeout), as: UTF8.self) }

    package func readBytes(timeout: Int = 60) -> [UInt8] {
        receive(timeout: timeout) { _ in false }
        defer { received = [] }
        return received
    }

    /// Receives until the bytes are enough, the server closes the connection, or `timeout` seconds have passed.
    private func receive(timeout: Int, until isEnough: ([UInt8]) -> Bool) {
        let deadline = ContinuousClock.now + .seconds(timeout)
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isEnough(received) {
            let left = Int((deadline - .now) / .microseconds(1))
            guard left > 0 else { return }
            var wait = timeval(tv_sec: left / 1_000_000, tv_usec: left % 1_000_000)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            received += buffer[..<count]
        }
    }

    /// Waits until the server closes the connection; false if it is open after `timeout` seconds.
    package func waitForClose(timeout: Int = 60) -> Bool {
        var wait = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 || count < 0 && errno == EINTR { continue }
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
