/// Decides which elements (transfers) run and which wait, with a limit for each host and a limit for all hosts. A plain
/// value, so that it is tested without a server.
///
/// Elements of the highest priority run first. Within a priority, groups take turns and hosts take turns, so that a
/// large group does not delay a small group. The limit for all hosts is applied to each priority: it counts the running
/// elements of this priority and of higher priorities. So an element never has to wait for an element of a lower
/// priority to release its slot, even if the host of that slot is slow.
struct HostQueues<Element> {
    /// The waiting elements of one host that have the same order, oldest first.
    private struct WaitQueue {
        let order: TransferOrder
        var waiting: ArraySlice<Element>
    }

    private struct Host {
        let limit: Int
        var running = 0
        /// The wait queues; none is empty. The first of the queues with the highest order is next, and then moves to
        /// the end.
        var queues: [WaitQueue] = []
        /// The number of the turn in which an element of this host was last admitted. Of several eligible hosts, the
        /// host with the lowest number is next.
        var lastTurn = 0

        var next: Int? {
            guard running < limit else { return nil }
            return queues.indices.reduce(nil) { best, queue in
                best.map { queues[queue].order.isBefore(queues[$0].order) } ?? true ? queue : best
            }
        }

        mutating func append(_ element: Element, _ order: TransferOrder) {
            if let queue = queues.firstIndex(where: { $0.order == order }) {
                queues[queue].waiting.append(element)
            } else {
                queues.append(WaitQueue(order: order, waiting: [element]))
            }
        }

        mutating func popFirst(of next: Int) -> Element {
            var queue = queues.remove(at: next)
            let element = queue.waiting.removeFirst()
            if !queue.waiting.isEmpty { queues.append(queue) }
            return element
        }

        /// Removes the first element for which `isMeant` returns true.
        mutating func remove(where isMeant: (Element) -> Bool) -> Element? {
            for queue in queues.indices {
                guard let position = queues[queue].waiting.firstIndex(where: isMeant) else { continue }
                defer { if queues[queue].waiting.isEmpty { queues.remove(at: queue) } }
                return queues[queue].waiting.remove(at: position)
            }
            return nil
        }
    }

    /// For each priority, how many elements of this priority and of higher priorities may run at the same time.
    var maxRunning: Int
    private let limit: Int
    private var hosts: [String: Host] = [:]
    private var running: [Int: Int] = [:]
    private var waiting = 0
    private var turns = 0

    /// Creates queues that run at most `limit` elements of a host, and at most `maxRunning` elements of a priority and
    /// all higher priorities. Nil means no limit.
    init(limit: Int?, maxRunning: Int? = nil) {
        self.limit = limit.map { max(1, $0) } ?? .max
        self.maxRunning = maxRunning.map { max(1, $0) } ?? .max
    }

    /// Returns true if `element` may run now, and gives it a slot. Otherwise the element waits for ``next()``.
    /// - Parameter hostLimit: the limit of this host, if it differs from the general limit.
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

    /// Releases the slot of an element of `host` with `priority`. Call ``next()`` afterwards to fill the slot.
    mutating func release(_ host: String, priority: Int) {
        hosts[host]?.running -= 1
        leave(priority)
        forgetIfUnused(host)
    }

    /// Admits the next waiting element and gives it a slot. Returns nil if no waiting element may run.
    mutating func next() -> Element? {
        guard waiting > 0 else { return nil }
        var best: (host: String, queue: Int, order: TransferOrder, lastTurn: Int)?
        for (name, host) in hosts {
            guard let queue = host.next, hasRoom(host.queues[queue].order.priority) else { continue }
            let order = host.queues[queue].order
            let isBetter =
                best.map {
                    order.isBefore($0.order) || !$0.order.isBefore(order) && host.lastTurn < $0.lastTurn
                } ?? true
            if isBetter { best = (name, queue, order, host.lastTurn) }
        }
        guard let best, var host = hosts[best.host] else { return nil }
        let element = host.popFirst(of: best.queue)
        waiting -= 1
        begin(&host, best.order.priority)
        hosts[best.host] = host
        return element
    }

    mutating func remove(_ host: String, where isMeant: (Element) -> Bool) {
        guard hosts[host]?.remove(where: isMeant) != nil else { return }
        waiting -= 1
        forgetIfUnused(host)
    }

    /// Changes the order of a waiting element of `host`. The element is placed after the elements that already have
    /// this order.
    mutating func reorder(_ host: String, to order: TransferOrder, where isMeant: (Element) -> Bool) {
        guard let element = hosts[host]?.remove(where: isMeant) else { return }
        hosts[host]?.append(element, order)
    }

    /// Changes the priority of a running element.
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
        if let state = hosts[host], state.running == 0, state.queues.isEmpty { hosts[host] = nil }
    }

    private func hasRoom(_ priority: Int) -> Bool {
        maxRunning == .max || running.reduce(0) { $1.key >= priority ? $0 + $1.value : $0 } < maxRunning
    }
}
