internal import CMicrohttpd
import DarkroomConcurrency
internal import Glibc

/// What each connection is doing and since when. Closes connections of clients that are too slow.
///
/// libmicrohttpd only closes connections on which no byte is transferred; a client that sends a byte now and then would
/// keep its connection for ever. And it does not look at the connection of a stream that waits for its next message.
/// Without ``enforce()``, the server notices only at the next message that the client of a stream has closed its
/// connection.
final class ConnectionTable: Sendable {
    enum Phase {
        /// The head of a request has not arrived.
        case waiting
        /// The body of a request is arriving.
        case receiving
        /// The response is being made.
        case handling
        /// The response is being sent.
        case sending(bytes: Int?, ResponseStream?)
    }

    private struct Connection {
        let socket: Int32
        var phase = Phase.waiting
        var since = ContinuousClock.now
        var received = 0
    }

    private let connections = Locked<[OpaquePointer: Connection]>([:])
    /// When room was last made for new connections; nil if never.
    private let madeRoom = Locked<ContinuousClock.Instant?>(nil)
    private let limits: HTTPServerLimits

    /// If more connections are open, those without a request are closed.
    private var comfortable: Int { limits.connections * 3 / 4 }

    init(_ limits: HTTPServerLimits) { self.limits = limits }

    var count: Int { connections.withLock { $0.count } }

    // MARK: - On the server's thread

    func add(_ connection: OpaquePointer) {
        let socket = darkroom_mhd_socket(connection)
        let count = connections.withLock { connections in
            connections[connection] = Connection(socket: socket)
            return connections.count
        }
        guard count > comfortable else { return }
        // If clients connect faster than the thread of deadlines makes room, new clients would wait for it.
        let isDue = madeRoom.withLock { last in
            if let last, .now - last < .milliseconds(20), count < limits.connections { return false }
            last = .now
            return true
        }
        if isDue { enforce() }
    }

    func remove(_ connection: OpaquePointer) { connections.withLock { $0[connection] = nil } }

    func began(_ phase: Phase, _ connection: OpaquePointer) {
        connections.withLock { connections in
            connections[connection]?.phase = phase
            connections[connection]?.since = .now
            connections[connection]?.received = 0
        }
        if case .sending(_, .some) = phase { Self.limitSilence(of: darkroom_mhd_socket(connection)) }
    }

    /// Lets the system close the connection of a stream whose client acknowledges nothing for some time, for example
    /// because its machine was switched off. Otherwise the system would try to send for about 15 minutes.
    private static func limitSilence(of socket: Int32) {
        var milliseconds = UInt32(20_000)
        // Fails for a Unix-domain socket, whose client cannot vanish without closing it.
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
    }

    func noteReceived(_ bytes: Int, _ connection: OpaquePointer) {
        connections.withLock { $0[connection]?.received += bytes }
    }

    // MARK: - On any thread

    /// Shuts down the sockets of clients that are too slow. If the server is nearly full, also those of the clients that
    /// have waited longest without a request. Ends the streams of clients that have closed their connection.
    func enforce() {
        let left = connections.withLock { connections in
            let now = ContinuousClock.now
            var waiting: [(since: ContinuousClock.Instant, socket: Int32)] = []
            for connection in connections.values {
                if isOverdue(connection, now) {
                    shutdown(connection.socket, Int32(SHUT_RDWR))
                } else if case .waiting = connection.phase {
                    waiting.append((connection.since, connection.socket))
                }
            }
            let surplus = max(0, connections.count - comfortable)
            for (_, socket) in waiting.sorted(by: { $0.since < $1.since }).prefix(surplus) {
                shutdown(socket, Int32(SHUT_RDWR))
            }
            return Self.left(connections.values)
        }
        for stream in left { stream.finish() }
    }

    /// Whether the client of an open connection has closed it.
    func hasLeft(_ connection: OpaquePointer) -> Bool {
        guard let socket = connections.withLock({ $0[connection]?.socket }) else { return false }
        var polled = pollfd(fd: socket, events: Self.hangUp, revents: 0)
        return poll(&polled, 1, 0) > 0
    }

    private static let hangUp: Int16 = 0x2000  // POLLRDHUP, which Swift does not see

    /// The streams whose clients have closed their connection.
    private static func left(_ connections: some Collection<Connection>) -> [ResponseStream] {
        let streams = connections.compactMap { connection -> (stream: ResponseStream, socket: Int32)? in
            guard case .sending(_, let stream?) = connection.phase else { return nil }
            return (stream, connection.socket)
        }
        var polled = streams.map { pollfd(fd: $0.socket, events: Self.hangUp, revents: 0) }
        guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return [] }
        return zip(streams, polled).filter { $1.revents != 0 }.map(\.0.stream)
    }

    private func isOverdue(_ connection: Connection, _ now: ContinuousClock.Instant) -> Bool {
        let time = now - connection.since
        func allowance(_ bytes: Int) -> Duration { limits.patience + .seconds(bytes / limits.slowestBytesPerSecond) }
        switch connection.phase {
        case .waiting: return time > limits.patience
        case .receiving: return time > allowance(connection.received)
        case .handling: return false
        case .sending(_, let stream?): return (stream.stalledFor ?? .zero) > limits.patience
        case .sending(let bytes, nil): return time > allowance(bytes ?? 0)
        }
    }
}
