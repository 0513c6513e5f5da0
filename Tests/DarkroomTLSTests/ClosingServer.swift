import DarkroomConcurrency
import Foundation
import Testing

/// A server on localhost that closes each connection as soon as the client has sent something.
final class ClosingServer: Sendable {
    private let descriptor: Int32
    private let sizes = Locked<[Int]>([])
    private let ended = DispatchSemaphore(value: 0)

    init(port: Int) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isBound && listen(descriptor, 8) == 0, "port \(port): \(String(cString: strerror(errno)))")
        self.descriptor = descriptor
        Thread.detachNewThread { [ended, sizes] in
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                var bytes = [UInt8](repeating: 0, count: 16 << 10)
                let count = recv(connection, &bytes, bytes.count, 0)
                sizes.withLock { $0.append(count) }
                close(connection)
            }
            close(descriptor)
            ended.signal()
        }
    }

    /// Ends the server. Returns the size of the first packet of each connection.
    func stop() -> [Int] {
        shutdown(descriptor, Int32(SHUT_RDWR))
        ended.wait()
        return sizes.withLock { $0 }
    }
}
