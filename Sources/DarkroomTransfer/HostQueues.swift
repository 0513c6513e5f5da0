/// Decides which elements run and which wait, with a limit for each host and one for all. A plain value, tested without a
/// server.
///
/// Elements of the highest priority are next. Within a priority, groups take turns, and so do hosts, so that a large group
/// does not delay a small one. The limit for all counts the elements of a priority and of all higher ones. So an urgent
/// element never waits for the place of a less urgent one, however slow the host of that one is.
struct HostQueues<Element> {
    /// Those of a host that wait together: of one order, in the order of their coming.
    private struct Lane {
        let order: TransferOrder
        var waiting: ArraySlice<Element>
    }

    private struct Host {
        let limit: Int
        var running = 0
        /// Lanes in turn: the first of the highest order is next, and goes to the end. None is empty.
        var lanes: [Lane] = []
        /// When one of it was last let in; of hosts that could be next, the one with the lowest is.
        var lastTurn = 0

        /// The place of the next lane.
        var next: Int? {
            guard running < limit else { return nil }
            return lanes.indices.reduce(nil) { best, lane in
                best.map { lanes[lane].order.isBefore(lanes[$0].order) } ?? true ? lane : best
            }
        }

        mutating func append(_ element: Element, _ order: TransferOrder) {
            if let lane = lanes.firstIndex(where: { $0.order == order }) {
                lanes[lane].waiting.append(element)
            } else {
                lanes.append(Lane(order: order, waiting: [element]))
            }
        }

        mutating func popFirst(of next: Int) -> Element {
            var lane = lanes.remove(at: next)
            let element = lane.waiting.removeFirst()
            if !lane.waiting.isEmpty { lanes.append(lane) }
            return element
        }

        /// Takes out the first for which `isMeant` holds.
        mutating func remove(where isMeant: (Element) -> Bool) -> Element? {
            for lane in lanes.indices {
                guard let position = lanes[lane].waiting.firstIndex(where: isMeant) else { continue }
                defer { if lanes[lane].waiting.isEmpty { lanes.remove(at: lane) } }
                return lanes[lane].waiting.remove(at: position)
            }
            return nil
        }
    }

    /// How many of one priority and of all higher ones run at once.
    var maxRunning: Int
    private let limit: Int
    private var hosts: [String: Host] = [:]
    /// How many run, by priority.
    private var running: [Int: Int] = [:]
    private var waiting = 0
    private var turns = 0

    /// `limit` elements of a host and `maxRunning` of a priority run at once, any number when it is `nil`.
    init(limit: Int?, maxRunning: Int? = nil) {
        self.limit = limit.map { max(1, $0) } ?? .max
        self.maxRunning = maxRunning.map { max(1, $0) } ?? .max
    }

    /// Whether `element` runs now and holds a place; otherwise it waits for ``next()``.
    /// - Parameter hostLimit: the limit of this host, where it is another than that of all.
    mutating func admit(
        _ element: Element, host: String, order: TransferOrder = TransferOrder(), hostLimit: Int? = nil
    ) -> Bool {
        var state = hosts[host] ?? Host(limit: hostLimit ?? limit)
        defer { hosts[host] = state }
        if state.running < state.limit, hasRoom(order.priority) {
            begin(&state, order.priority)
            return true
        }
        state.append(element, order)
        waiting += 1
        return false
    }

    /// Gives back a place at `host` of one that was let in with `priority`; it is ``next()``'s to give it to another.
    mutating func release(_ host: String, priority: Int) {
        hosts[host]?.running -= 1
        leave(priority)
        forgetIfUnused(host)
    }

    /// Admits the next waiting element, which holds a place from then on; nil if none may run.
    mutating func next() -> Element? {
        guard waiting > 0 else { return nil }
        var best: (host: String, lane: Int, order: TransferOrder, lastTurn: Int)?
        for (name, host) in hosts {
            guard let lane = host.next, hasRoom(host.lanes[lane].order.priority) else { continue }
            let order = host.lanes[lane].order
            let isBetter =
                best.map {
                    order.isBefore($0.order) || !$0.order.isBefore(order) && host.lastTurn < $0.lastTurn
                } ?? true
            if isBetter { best = (name, lane, order, host.lastTurn) }
        }
        guard let best, var host = hosts[best.host] else { return nil }
        let element = host.popFirst(of: best.lane)
        waiting -= 1
        begin(&host, best.order.priority)
        hosts[best.host] = host
        return element
    }

    /// Takes one that waits at `host` out of its queue.
    mutating func remove(_ host: String, where isMeant: (Element) -> Bool) {
        guard hosts[host]?.remove(where: isMeant) != nil else { return }
        waiting -= 1
        forgetIfUnused(host)
    }

    /// Gives one that waits at `host` another place in the order, behind those that have it.
    mutating func reorder(_ host: String, to order: TransferOrder, where isMeant: (Element) -> Bool) {
        guard let element = hosts[host]?.remove(where: isMeant) else { return }
        hosts[host]?.append(element, order)
    }

    /// Counts one that runs with another priority than before.
    mutating func move(from old: Int, to new: Int) {
        leave(old)
        running[new, default: 0] += 1
    }

    private mutating func begin(_ host: inout Host, _ priority: Int) {
        turns += 1
        host.lastTurn = turns
        host.running += 1
        running[priority, default: 0] += 1
    }

    private mutating func leave(_ priority: Int) {
        running[priority, default: 1] -= 1
        if running[priority] == 0 { running[priority] = nil }
    }

    private mutating func forgetIfUnused(_ host: String) {
        if let state = hosts[host], state.running == 0, state.lanes.isEmpty { hosts[host] = nil }
    }

    private func hasRoom(_ priority: Int) -> Bool {
        maxRunning == .max || running.reduce(0) { $1.key >= priority ? $0 + $1.value : $0 } < maxRunning
    }
}
