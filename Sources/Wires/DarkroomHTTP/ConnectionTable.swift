internal import CMicrohttpd
import DarkroomConcurrency
internal import Glibc

/// The phase of each connection, and the time at which this phase began. Closes connections of clients that are too
/// slow.
///
/// libmicrohttpd only closes connections on which no byte is transferred, so a client that sends a byte now and then
/// could keep its connection for ever. libmicrohttpd also does not check the connection of a stream that waits for its
/// next message. Without ``enforce()``, a server that has no message to send would not notice that the client of a
/// stream has closed the connection.
final class ConnectionTable: Sendable {
    enum Phase {
        /// The head of a request has not arrived.
        case waiting
        /// The body of a request is arriving.
        case receiving
        /// The service is making the response.
        case handling
        /// The response is being sent.
        case sending(bytes: Int?, ResponseStream?)
    }

    struct Connection {
        let socket: Int32
        /// The network of the client; nil if it is not known.
        var network: ClientNetwork?
        let opened: ContinuousClock.Instant
        var phase = Phase.waiting
        /// The time at which the phase began.
        var since: ContinuousClock.Instant
        var received = 0
        /// Whether the service knows the client of the last request.
        var isKnown = false
        /// Whether the socket is shut down; libmicrohttpd then removes the connection.
        var isClosed = false

        init(socket: Int32, network: ClientNetwork?, opened: ContinuousClock.Instant = .now) {
            self.socket = socket
            self.network = network
            self.opened = opened
            since = opened
        }
    }

    private struct State {
        var connections: [OpaquePointer: Connection] = [:]
        /// The number of connections that are not shut down.
        var open = 0

        mutating func close(_ connection: OpaquePointer) {
            guard let known = connections[connection], !known.isClosed else { return }
            connections[connection]?.isClosed = true
            open -= 1
            shutdown(known.socket, Int32(SHUT_RDWR))
        }
    }

    private let state = Locked(State())
    /// The time at which ``add(_:)`` last made room for new connections; nil if it never has.
    private let madeRoom = Locked<ContinuousClock.Instant?>(nil)
    private let limits: HTTPServerLimits
    private let room: ConnectionRoom

    init(_ limits: HTTPServerLimits) {
        self.limits = limits
        room = ConnectionRoom(limits)
    }

    var count: Int { state.withLock { $0.connections.count } }

    // MARK: - On the server's thread

    func add(_ connection: OpaquePointer) {
        let added = Connection(
            socket: darkroom_mhd_socket(connection),
            network: darkroom_mhd_client(connection).flatMap(ClientNetwork.init).flatMap { network in
                limits.proxies.contains(network) ? nil : network
            })
        let open = state.withLock { state in
            state.connections[connection] = added
            state.open += 1
            return state.open
        }
        guard open > room.comfortable else { return }
        // This method also makes room, because clients may connect faster than the thread `http-deadlines` makes room.
        let isDue = madeRoom.withLock { last in
            if let last, .now - last < .milliseconds(20), open <= room.nearlyFull { return false }
            last = .now
            return true
        }
        if isDue { enforce() }
    }

    func remove(_ connection: OpaquePointer) {
        state.withLock { state in
            guard let removed = state.connections.removeValue(forKey: connection) else { return }
            if !removed.isClosed { state.open -= 1 }
        }
    }

    /// Records whether the service knows the client of the request that has arrived.
    func identified(_ isKnown: Bool, _ connection: OpaquePointer) {
        state.withLock { $0.connections[connection]?.isKnown = isKnown }
    }

    func began(_ phase: Phase, _ connection: OpaquePointer) {
        state.withLock { state in
            state.connections[connection]?.phase = phase
            state.connections[connection]?.since = .now
            state.connections[connection]?.received = 0
        }
        if case .sending(_, .some) = phase { Self.limitSilence(of: darkroom_mhd_socket(connection)) }
    }

    /// Lets the system close the connection of a stream if the client acknowledges no data for 20 s, for example
    /// because its machine was switched off. Without this limit, the system would try to send for about 15 minutes.
    private static func limitSilence(of socket: Int32) {
        var milliseconds = UInt32(20_000)
        // Fails for a Unix-domain socket. This does no harm: the system closes the socket when its client exits.
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<UInt32>.size))
    }

    func noteReceived(_ bytes: Int, _ connection: OpaquePointer) {
        state.withLock { $0.connections[connection]?.received += bytes }
    }

    // MARK: - On any thread

    /// Shuts down the sockets of clients that are too slow, and the sockets that ``ConnectionRoom`` chooses. Ends the
    /// streams of clients that have closed their connection.
    func enforce() {
        let left = state.withLock { state in
            let now = ContinuousClock.now
            let overdue = state.connections.filter { !$0.value.isClosed && isOverdue($0.value, now) }
            for connection in overdue.keys { state.close(connection) }
            for connection in room.surplus(of: state.connections, now) { state.close(connection) }
            return Self.left(state.connections.values)
        }
        for stream in left { stream.finish() }
    }

    /// Whether the client has closed a connection that the server still holds open.
    func hasLeft(_ connection: OpaquePointer) -> Bool {
        guard let socket = state.withLock({ $0.connections[connection]?.socket }) else { return false }
        var polled = pollfd(fd: socket, events: Self.hangUp, revents: 0)
        return poll(&polled, 1, 0) > 0
    }

    private static let hangUp: Int16 = 0x2000  // POLLRDHUP, which Swift does not import

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
        let patience = connection.isKnown ? limits.patience : min(limits.patience, limits.patienceWithStrangers)
        func allowance(_ bytes: Int) -> Duration { patience + .seconds(bytes / limits.slowestBytesPerSecond) }
        switch connection.phase {
        case .waiting: return time > limits.patience
        case .receiving: return time > allowance(connection.received)
        case .handling: return false
        case .sending(_, let stream?): return (stream.stalledFor ?? .zero) > limits.patience
        case .sending(let bytes, nil): return time > allowance(bytes ?? 0)
        }
    }
}
