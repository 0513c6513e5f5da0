/// Decides which connections the server closes to make room for new clients.
///
/// A stranger is a client that has not logged in. Strangers can fill the server with connections, because a client
/// needs no token to open a connection. Therefore connections of strangers are closed first, beginning with the oldest.
/// A user is a stranger until the login is complete. Connections younger than ``youth`` are closed only if the server
/// is nearly full, so that users can log in.
struct ConnectionRoom {
    typealias Connection = ConnectionTable.Connection

    /// If more connections are open, the number of strangers of a network is limited.
    let crowded: Int
    /// If more connections are open, the server closes connections until this number is left.
    let comfortable: Int
    /// If more connections are open, connections younger than ``youth`` are also closed.
    let nearlyFull: Int
    /// The largest number of connections of strangers from one network. If there are more, the server closes the
    /// oldest, except connections younger than ``youth``.
    let strangersOfANetwork: Int
    private let patience: Duration

    /// An accepted client must log in within this time; until then, its connection counts as young.
    static let youth = Duration.seconds(2)

    init(_ limits: HTTPServerLimits) {
        crowded = limits.connections * 3 / 8
        comfortable = limits.connections * 3 / 4
        nearlyFull = limits.connections * 15 / 16
        strangersOfANetwork = max(1, limits.connections / 16)
        patience = limits.patience
    }

    /// The open connections that the server must close now.
    func surplus<Key: Hashable>(of connections: [Key: Connection], _ now: ContinuousClock.Instant) -> [Key] {
        let open = connections.filter { !$0.value.isClosed }
        let crowding = crowding(in: open)
        var chosen: Set<Key> =
            open.count <= crowded
            ? [] : crowding.filter { now - open[$0]!.opened > Self.youth }  // its elements are keys of `open`
        let surplus = open.count - chosen.count - comfortable
        guard surplus > 0 else { return Array(chosen) }
        let isNearlyFull = open.count - chosen.count > nearlyFull
        let candidates = open.filter { !chosen.contains($0.key) }.compactMap { key, connection in
            rank(connection, isCrowding: crowding.contains(key), isNearlyFull, now).map { (key: key, rank: $0) }
        }
        chosen.formUnion(candidates.sorted { $0.rank < $1.rank }.prefix(surplus).map(\.key))
        return Array(chosen)
    }

    /// The connections of strangers that exceed ``strangersOfANetwork``. In each network, these are the connections
    /// that were opened first.
    private func crowding<Key: Hashable>(in open: [Key: Connection]) -> Set<Key> {
        let strangers = open.filter { _, connection in
            if case .handling = connection.phase { return false }
            return !connection.isKnown && connection.network != nil
        }
        return Dictionary(grouping: strangers, by: { $0.value.network }).values.reduce(into: []) { crowding, group in
            guard group.count > strangersOfANetwork else { return }
            let oldest = group.sorted { $0.value.opened < $1.value.opened }.dropLast(strangersOfANetwork)
            crowding.formUnion(oldest.map(\.key))
        }
    }

    /// The rank of a connection; the connections with the lowest ranks are closed first. Returns nil if the connection
    /// must stay open.
    private func rank(
        _ connection: Connection, isCrowding: Bool, _ isNearlyFull: Bool, _ now: ContinuousClock.Instant
    ) -> (Int, ContinuousClock.Instant)? {
        switch (connection.phase, connection.isKnown) {
        case (.handling, _): return nil
        case (_, false):
            if now - connection.opened > Self.youth { return (0, connection.opened) }
            return isNearlyFull ? (isCrowding ? 3 : 5, connection.opened) : nil
        case (.waiting, true): return (1, connection.since)
        case (.sending(_, nil), true):
            if now - connection.since > patience { return (2, connection.since) }
            return isNearlyFull && now - connection.since > Self.youth ? (4, connection.since) : nil
        case (.receiving, true), (.sending(_, .some), true): return nil
        }
    }
}
