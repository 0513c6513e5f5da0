import Foundation

/// TCP sockets of the loopback interface.
enum Loopback {
    /// Listens on a port.
    /// - Returns: the listening socket.
    static func listen(on port: Int) throws -> Int32 {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard withAddress(port, { bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 64) == 0 else {
            let error = errno
            close(listener)
            throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO)
        }
        return listener
    }

    /// Connects a socket to a port; false on failure.
    static func connect(_ socket: Int32, to port: Int) -> Bool {
        withAddress(port) { Glibc.connect(socket, $0, $1) } == 0
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
