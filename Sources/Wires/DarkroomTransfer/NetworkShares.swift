internal import CCurl
import Glibc

/// The shared resources of the attempts of a network thread: the sockets of their hosts, and libcurl's memory for held
/// bodies.
///
/// DESIGN. With HTTP/1, a connection carries one attempt at a time, and is closed if the attempt fails. With HTTP/2, a
/// connection carries many attempts, and libcurl keeps the connection if one of these attempts fails. Three cases
/// therefore exist only with HTTP/2:
///
/// - A connection is lost, and all its attempts fail. This is one silence of the host. libcurl does not tell which
///   attempts shared a connection, so all attempts of the host that had begun before the first of these failures count
///   once. These failures do not count as a silence if the host has answered since the attempts began: many servers
///   close a connection after 1,000 requests, even if the client has just sent further requests.
/// - The network has lost a connection, and no packet tells the system. libcurl would use this connection for all
///   further requests, which would all stall. Therefore, if a request stalls and the host has sent nothing to any
///   attempt for the same time, the sockets of the host are shut down.
/// - An attempt ends before its response. libcurl (7.88, 8.14) queues the frame that resets the stream, but sends the
///   frame only when it uses the connection again. If no other attempt uses the connection, the server would send the
///   rest of the body until the buffers are full. Therefore the sockets of the host are also shut down in this case.
final class NetworkShares {
    /// A host and port with running attempts.
    final class Peer {
        let name: String
        fileprivate(set) var users = 0
        /// Whether the server uses HTTP/2; nil if this is not known.
        var isMultiplexed: Bool?
        /// Whether the server has sent something since the last sweep.
        var isActive = false
        /// The number of bytes that all attempts to the server have received.
        var bytes = 0
        fileprivate(set) var lastActivity: ContinuousClock.Instant
        // The time at which the last response began, and the time of the last silence that counted.
        private var lastAnswer: ContinuousClock.Instant?
        private var lastSilence: ContinuousClock.Instant?

        fileprivate init(_ name: String, _ now: ContinuousClock.Instant) {
            self.name = name
            lastActivity = now
        }

        func answered(_ now: ContinuousClock.Instant) { lastAnswer = now }

        /// Whether the silence of an attempt that began at `start` counts for the host.
        func countsSilence(begun start: ContinuousClock.Instant, _ now: ContinuousClock.Instant = .now) -> Bool {
            guard isMultiplexed == true else { return true }
            for time in [lastAnswer, lastSilence] { if let time, start < time { return false } }
            lastSilence = now
            return true
        }
    }

    /// The number of bytes of held bodies that libcurl may store, for all network threads together. Each thread may
    /// store at least one body.
    private static let mostHeldBytes = 64 << 20
    /// The number of bytes of a body that libcurl 7.88 receives from a server with HTTP/2 while the attempt is held.
    /// Later versions receive less.
    static let streamWindow = 32 << 20

    private let mostHeldBytes: Int
    private var heldBytes = 0
    private var peers: [String: Peer] = [:]
    private var sockets: [Int32: String] = [:]

    init(threads: Int) { mostHeldBytes = max(Self.streamWindow, Self.mostHeldBytes / threads) }

    // MARK: Peers

    func join(_ name: String, _ now: ContinuousClock.Instant) -> Peer {
        let peer = peers[name] ?? Peer(name, now)
        peers[name] = peer
        peer.users += 1
        return peer
    }

    func leave(_ peer: Peer) {
        peer.users -= 1
        if peer.users == 0 { peers[peer.name] = nil }
    }

    /// Updates `lastActivity` of the servers that have sent data since the last sweep.
    func sweep(_ now: ContinuousClock.Instant) {
        for peer in peers.values where peer.isActive {
            peer.isActive = false
            peer.lastActivity = now
        }
    }

    // MARK: Sockets

    func opened(_ socket: Int32, to name: String) { sockets[socket] = name }

    func close(_ socket: Int32) -> Int32 {
        sockets[socket] = nil
        return Glibc.close(socket)
    }

    /// Ends the connections to a server. libcurl closes the sockets.
    func shutDown(_ peer: Peer) {
        for (socket, name) in sockets where name == peer.name { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Must be called when an attempt has ended before its response, while `users` still counts the attempt.
    func abandoned(_ peer: Peer) {
        if peer.users == 1, peer.isMultiplexed != false { shutDown(peer) }
    }

    // MARK: Held bodies

    /// Returns whether libcurl may keep `bytes` of a held body. If so, ``release(_:)`` must follow.
    func hold(_ bytes: Int) -> Bool {
        guard heldBytes + bytes <= mostHeldBytes else { return false }
        heldBytes += bytes
        return true
    }

    func release(_ bytes: Int) { heldBytes -= bytes }
}
