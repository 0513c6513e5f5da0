/// Who runs and who waits, with a limit for each host. A plain value: no server needed to test it.
///
/// Those of the highest priority are next; of one priority, groups take turns, so that many of one group do not keep the
/// few of another waiting.
struct HostQueues<Element> {
    /// Those of a host that wait together: of one priority and one group, in order.
    private struct Lane {
        let order: TransferOrder
        var waiting: ArraySlice<Element>
    }

    private struct Host {
        var running = 0
        /// Lanes in turn: the first of the highest priority is next, and goes to the end. None is empty.
        var lanes: [Lane] = []

        mutating func append(_ element: Element, _ order: TransferOrder) {
            if let lane = lanes.firstIndex(where: { $0.order == order }) {
                lanes[lane].waiting.append(element)
            } else {
                lanes.append(Lane(order: order, waiting: [element]))
            }
        }

        mutating func popFirst() -> Element? {
            guard !lanes.isEmpty else { return nil }
            var next = 0
            for lane in lanes.indices where lanes[lane].order.priority > lanes[next].order.priority { next = lane }
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

    private let limit: Int
    private var hosts: [String: Host] = [:]

    /// `limit` elements of a host run at once, any number when it is `nil`.
    init(limit: Int?) { self.limit = limit.map { max(1, $0) } ?? .max }

    /// Whether `element` runs now and holds a place at `host`; otherwise it waits for `release`.
    mutating func admit(_ element: Element, host: String, order: TransferOrder = TransferOrder()) -> Bool {
        if hosts[host, default: Host()].running < limit {
            hosts[host, default: Host()].running += 1
            return true
        }
        hosts[host]?.append(element, order)
        return false
    }

    /// Gives back a place at `host` and returns who gets it: the next that waits and that `isWanted`.
    mutating func release(_ host: String, isWanted: (Element) -> Bool) -> Element? {
        guard let index = hosts.index(forKey: host) else { return nil }
        while let next = hosts.values[index].popFirst() {
            if isWanted(next) { return next }
        }
        hosts.values[index].running -= 1
        if hosts.values[index].running == 0 { hosts.remove(at: index) }
        return nil
    }

    /// Takes one that waits at `host` out of its queue.
    mutating func remove(_ host: String, where isMeant: (Element) -> Bool) {
        guard let index = hosts.index(forKey: host) else { return }
        _ = hosts.values[index].remove(where: isMeant)
    }

    /// Gives one that waits at `host` another place in the order, behind those that have it.
    mutating func reorder(_ host: String, to order: TransferOrder, where isMeant: (Element) -> Bool) {
        guard let index = hosts.index(forKey: host), let element = hosts.values[index].remove(where: isMeant)
        else { return }
        hosts.values[index].append(element, order)
    }
}
