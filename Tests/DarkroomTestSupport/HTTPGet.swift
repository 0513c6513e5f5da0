import Foundation

/// The response to a request to a server on the loopback address.
package struct HTTPGet {
    /// The status; 0 if there is no response.
    package let status: Int
    /// The header fields, as one text.
    package let head: String
    package let body: String

    /// Sends a request without a body, with a token if one is given, and reads its response to the end. Blocks for at
    /// most 10 s without data.
    package init(_ path: String, port: Int, method: String = "GET", token: String? = nil) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var wait = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let login = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let request = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(login)Connection: close\r\n\r\n".utf8)
        var text: [UInt8] = []
        if isConnected, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { text += buffer[..<count] }
        }
        let parts = String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n\r\n")
        head = parts[0]
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
        status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
