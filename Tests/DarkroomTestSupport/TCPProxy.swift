import DarkroomConcurrency
import Foundation

/// A proxy between a client and a server on the loopback interface. It can delay bytes, cut connections once or for
/// some time, and freeze: a frozen proxy forwards nothing and closes nothing, like a machine without power.
package final class TCPProxy: Sendable {
    /// The listening port.
    package let port: Int

    private struct State {
        var delay = Duration.zero
        var isFrozen = false
        var isInterrupted = false
        var isClosed = false
        var descriptors: Set<Int32> = []
        var accepted = 0
        var refused = 0
    }

    private let state = Locked(State())
    private let listener: Int32
    private let server: Int

    /// Starts a proxy to a port of the loopback interface.
    package init(to server: Int) throws {
        self.server = server
        port = try RedisServer.freePort()
        listener = try Loopback.listen(on: port)
        Thread { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 { take(client) }
        }.start()
    }

    /// The number of accepted connections.
    package var accepted: Int { state.withLock { $0.accepted } }

    /// The number of connections that were closed at once, because the server is down or the proxy is interrupted.
    package var refused: Int { state.withLock { $0.refused } }

    /// Delays bytes in both directions.
    package func delay(_ delay: Duration) { state.withLock { $0.delay = delay } }

    /// Closes all connections on both sides. New connections are accepted.
    package func cut() {
        state.withLock { state in
            for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes all connections. Until ``restore()``, the proxy also closes every new connection at once.
    package func interrupt() {
        state.withLock { $0.isInterrupted = true }
        cut()
    }

    /// Forwards new connections again after ``interrupt()``.
    package func restore() { state.withLock { $0.isInterrupted = false } }

    /// From now on, discards all received bytes, also of new connections, and closes no connection.
    package func freeze() { state.withLock { $0.isFrozen = true } }

    /// Forwards new connections again. Frozen connections stay frozen.
    package func thaw() { state.withLock { $0.isFrozen = false } }

    /// Closes all connections and the listening socket.
    package func close() {
        state.withLock { $0.isClosed = true }
        cut()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func take(_ client: Int32) {
        guard !state.withLock(\.isInterrupted) else {
            state.withLock { $0.refused += 1 }
            Foundation.close(client)
            return
        }
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard Loopback.connect(upstream, to: server), !state.withLock(\.isClosed) else {
            state.withLock { $0.refused += 1 }
            Foundation.close(client)
            Foundation.close(upstream)
            return
        }
        var on: Int32 = 1
        for descriptor in [client, upstream] {
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        state.withLock {
            $0.accepted += 1
            $0.descriptors.formUnion([client, upstream])
            // The proxy was interrupted after the first check, so this connection is closed like the older ones.
            guard $0.isInterrupted else { return }
            for descriptor in [client, upstream] { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        let frozen = Locked(false)
        let directions = Locked(2)
        for (from, to) in [(client, upstream), (upstream, client)] {
            Thread { [self] in
                carry(from, to, frozen)
                // Only the direction that ends last closes the descriptors; otherwise the other direction could use a
                // descriptor number that the system has assigned again.
                let isLast = directions.withLock { left in
                    left -= 1
                    return left == 0
                }
                guard isLast else { return }
                state.withLock { $0.descriptors.subtract([client, upstream]) }
                Foundation.close(client)
                Foundation.close(upstream)
            }.start()
        }
    }

    private func carry(_ from: Int32, _ to: Int32, _ frozen: Locked<Bool>) {
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        while case let count = read(from, &bytes, bytes.count), count > 0 {
            let (delay, isFrozen) = state.withLock { ($0.delay, $0.isFrozen) }
            if isFrozen { frozen.withLock { $0 = true } }
            if frozen.withLock({ $0 }) { continue }
            if delay > .zero { usleep(UInt32(delay / .microseconds(1))) }
            var sent = 0
            while sent < count {
                let written = bytes.withUnsafeBytes {
                    send(to, $0.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
        }
        // The proxy does not forward the end of a frozen connection.
        let (isFrozen, isClosed) = state.withLock { ($0.isFrozen, $0.isClosed) }
        if isClosed || !(isFrozen || frozen.withLock { $0 }) {
            for descriptor in [from, to] { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
