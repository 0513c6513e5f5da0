import DarkroomConcurrency
import DarkroomText
import Foundation

/// An HTTP server on the loopback address that sends a large photo slowly, byte by byte, so that each download runs
/// until the client stops it.
final class TrickleServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let stopped = Latch()
    private let thread = Locked<OwnedThread?>(nil)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 256) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard listener >= 0, isListening else {
            throw BenchError("cannot listen on 127.0.0.1: \(systemErrorText())")
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        thread.withLock { $0 = OwnedThread("bench-trickle") { [self] in serve() } }
    }

    /// A different URL for each `number`.
    func url(_ number: Int) -> String { "http://127.0.0.1:\(port)/trickle-\(number).jpg" }

    /// Closes all connections and stops the server.
    func stop() {
        stopped.set()
        thread.withLock { $0 }?.join()
        close(listener)
    }

    private func serve() {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 10000000\r\n\r\n".utf8)
        var clients: [Int32] = []
        var request = [UInt8](repeating: 0, count: 4096)
        while !stopped.isSet {
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            if poll(&waiting, 1, 20) > 0 {
                let client = accept(listener, nil, nil)
                // A request on the loopback interface is short and arrives at once.
                if client >= 0, read(client, &request, request.count) > 0 {
                    _ = send(client, head, head.count, Int32(MSG_NOSIGNAL))
                    clients.append(client)
                }
                continue
            }
            clients.removeAll { client in
                guard send(client, [0], 1, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) < 0 else {
                    return false
                }
                close(client)
                return true
            }
        }
        for client in clients { close(client) }
    }
}
