import DarkroomTestSupport
import Testing

@testable import DarkroomHTTP

/// Which connections are closed so that new clients find room.
struct ConnectionRoomTests {
    private typealias Connection = ConnectionTable.Connection

    private let room: ConnectionRoom
    private let now = ContinuousClock.now
    private var connections: [Int: Connection] = [:]

    init() {
        var limits = HTTPServerLimits()
        // Crowded above 600, comfortable up to 1,200, nearly full above 1,500; 100 strangers of a network.
        limits.connections = 1600
        room = ConnectionRoom(limits)
    }

    /// Adds connections that were opened one after the other, the last `age` ago.
    /// - Returns: their keys.
    @discardableResult private mutating func add(
        _ count: Int, _ phase: ConnectionTable.Phase, known isKnown: Bool = false, age: Duration = .seconds(3),
        from address: (Int) -> String = { _ in "192.0.2.1" }
    ) -> Range<Int> {
        let keys = connections.count..<connections.count + count
        for (place, key) in keys.enumerated() {
            var connection = Connection(
                socket: -1, network: ClientNetwork(address(place)), opened: now - age - .milliseconds(count - place))
            connection.phase = phase
            connection.isKnown = isKnown
            connections[key] = connection
        }
        return keys
    }

    private func closed() -> Set<Int> { Set(room.surplus(of: connections, now)) }

    private static func manyHosts(_ place: Int) -> String { "198.51.\(place / 250).\(place % 250)" }

    @Test mutating func nothingIsClosedWhileThereIsRoom() {
        add(100, .receiving)
        add(1000, .waiting, known: true)
        #expect(closed().isEmpty)
    }

    @Test mutating func aNetworkHasAFewStrangers() {
        add(600, .receiving)
        #expect(closed().isEmpty)
        add(1, .receiving)
        #expect(closed() == Set(0..<501))
    }

    @Test mutating func anIPv6NetworkIsOneClient() {
        add(700, .waiting) { "2001:db8::\(String($0 + 1, radix: 16))" }
        #expect(closed().count == 600)
    }

    @Test mutating func knownClientsOfANetworkAreNotLimited() {
        add(1100, .sending(bytes: nil, ResponseStream()), known: true)
        #expect(closed().isEmpty)
    }

    @Test(arguments: [ConnectionTable.Phase.waiting, .receiving, .sending(bytes: 10, nil)])
    mutating func strangersMakeRoomBeforeOthers(phase: ConnectionTable.Phase) {
        let strangers = add(1000, phase, from: Self.manyHosts)
        add(300, .waiting, known: true, age: .seconds(10))
        #expect(closed() == Set(strangers.prefix(100)))
    }

    @Test mutating func aYoungStrangerIsKept() {
        let old = add(1300, .receiving, from: Self.manyHosts)
        let young = add(10, .waiting, age: .milliseconds(500))
        #expect(closed() == Set(old.prefix(110)))
        #expect(closed().isDisjoint(with: young))
    }

    @Test mutating func manyYoungStrangersMakeRoomOnlyIfTheServerIsNearlyFull() {
        let crowd = add(1250, .waiting, age: .zero)
        #expect(closed().isEmpty)
        let others = add(300, .receiving, age: .zero, from: Self.manyHosts)
        // The network with more strangers than others comes first.
        #expect(closed() == Set(crowd.prefix(350)))
        #expect(closed().isDisjoint(with: others))
    }

    @Test mutating func idleKnownClientsComeAfterStrangers() {
        let strangers = add(50, .receiving)
        let idle = add(1300, .waiting, known: true)
        #expect(closed() == Set(strangers).union(idle.prefix(100)))
    }

    @Test mutating func slowReadersMakeRoomForANewUser() {
        let readers = add(1500, .sending(bytes: 1 << 30, nil), known: true)
        #expect(closed().isEmpty)
        add(1, .waiting, age: .zero)
        #expect(closed() == Set(readers.prefix(301)))
    }

    @Test mutating func longReadersMakeRoomBeforeTheServerIsFull() {
        let readers = add(1300, .sending(bytes: 1 << 30, nil), known: true, age: .seconds(30))
        #expect(closed() == Set(readers.prefix(100)))
    }

    @Test mutating func requestsThatAreHandledAreKept() {
        add(1550, .handling)
        for key in connections.keys { connections[key]?.network = nil }
        #expect(closed().isEmpty)
    }

    @Test mutating func closedConnectionsDoNotCount() {
        let all = add(1300, .receiving, from: Self.manyHosts)
        for key in closed() { connections[key]?.isClosed = true }
        #expect(closed().isEmpty)
        #expect(connections.values.filter(\.isClosed).count == all.count - room.comfortable)
    }
}
