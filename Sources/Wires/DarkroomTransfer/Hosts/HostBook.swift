import DarkroomHosts

/// Decides which waiting transfer begins next, from the order of the waiting transfers, the conditions of their hosts,
/// and the number of places. A plain value whose methods get the time as an argument, so that tests need no server.
/// Each call costs the same for 10 waiting elements (transfers) as for 20,000.
///
/// Elements of the highest priority begin first. Within a priority, groups take turns and hosts take turns, so that a
/// large group does not delay a small group. For each priority, ``places`` limits the number of running elements of
/// this priority and of higher priorities. Therefore an element never has to wait until an element of a lower priority
/// has ended, even if the host of the other element is slow.
struct HostBook<Element: AnyObject> {
    /// A ``TransferOrder`` without its group: the priority of an element, and whether it is first within this priority.
    private struct Rank: Hashable, Comparable {
        let priority: Int
        let isFirst: Bool

        init(_ order: TransferOrder) {
            priority = order.priority
            isFirst = order.isFirst
        }

        static func < (first: Rank, second: Rank) -> Bool {
            first.priority == second.priority ? !first.isFirst && second.isFirst : first.priority < second.priority
        }
    }

    /// A waiting element. The entry is valid if its ticket is the latest ticket of the element.
    private struct Entry {
        let element: Element
        let ticket: Int
    }

    private struct WaitQueue {
        let order: TransferOrder
        /// Oldest first.
        var entries: ArraySlice<Entry>
    }

    private struct Host {
        var condition: HostCondition
        /// The queues of the host. The first queue with the highest rank gives the next element, and moves to the end.
        var queues: [WaitQueue] = []
        /// The number of valid entries.
        var waiting = 0
        /// The number of entries in `queues` that are no longer valid.
        var stale = 0
        /// The lists of `ready` that contain the host.
        var listed: Set<Rank> = []
        /// The time of the earliest entry of the host in `timed`.
        var timed: ContinuousClock.Instant?
        /// The time since which no element waits or runs; nil if an element waits or runs.
        var idleSince: ContinuousClock.Instant?
        var exchange: Exchange

        var isIdle: Bool { waiting == 0 && condition.running == 0 }
    }

    /// The state of the exchanges of a host with other workers.
    private struct Exchange {
        /// The time of the earliest entry of the host in `exchanges`.
        var time: ContinuousClock.Instant?
        /// The exchange that is under way; nil if there is none. `permits` is the number of permits of the worker when
        /// the exchange began.
        var sent: (use: HostUse, learned: HostCondition.Learned, permits: Int)?
        /// The number of requests that the worker wanted in the last exchange.
        var wanted = 0
        /// Whether the other workers know that this worker uses the host.
        var isMember = false
        /// The earliest time of the next exchange.
        var earliest: ContinuousClock.Instant
        /// The latest time of the next exchange while the host is in use.
        var latest: ContinuousClock.Instant
    }

    private struct Waiting {
        let host: String
        let ticket: Int
    }

    /// The time for which a host is remembered after its last element, and the largest number of remembered hosts.
    private static var memory: (time: Duration, hosts: Int) { (.seconds(600), 100_000) }

    /// For each priority, the largest number of elements of this and higher priorities that run at the same time.
    let places: Int
    /// The shortest interval between two elements of all hosts; nil: no limit. Elements without a host do not count.
    private let interval: Duration?
    /// The time at which the next element with a host may begin according to ``interval``.
    private var nextTurn: ContinuousClock.Instant?
    /// ``nextTurn`` if it was the reason why the last call of ``next(_:)`` returned no element; otherwise nil.
    private var heldUntil: ContinuousClock.Instant?
    /// Elements of lower priorities do not begin.
    var lowestPriority = Int.min
    private let rules: (String) -> HostCondition.Rules
    private var hosts: [String: Host] = [:]
    private var waiting: [ObjectIdentifier: Waiting] = [:]
    private var tickets = 0
    private var running: [Int: Int] = [:]
    /// For each rank, the hosts that may begin an element of this rank. A host that may no longer begin an element is
    /// removed when it becomes the first. The first host is next.
    private var ready: [Rank: ArraySlice<String>] = [:]
    /// The hosts whose next element may begin only at a later time.
    private var timed = Timeline<String>()
    /// The hosts in the order in which they became idle, including hosts that are no longer idle.
    private var idle: ArraySlice<(since: ContinuousClock.Instant, host: String)> = []

    /// Whether hosts are shared with other workers. If so, a host gets no request before its first exchange.
    private var isShared: Bool
    /// The hosts whose facts may need an exchange with other workers.
    private var exchanges = Timeline<String>()

    /// - Parameter rules: the rules for a host.
    init(
        places: Int? = nil, interval: Duration? = nil, isShared: Bool = false,
        _ rules: @escaping (_ host: String) -> HostCondition.Rules
    ) {
        self.places = places ?? .max
        self.interval = interval
        self.isShared = isShared
        self.rules = rules
    }

    /// The number of waiting elements.
    var count: Int { waiting.count }

    /// The number of hosts, including hosts that are only remembered.
    var hostCount: Int { hosts.count }

    func condition(of host: String) -> HostCondition? { hosts[host]?.condition }

    /// The time until which a host gets no requests because it does not answer, or has asked for a long pause; nil if
    /// it gets requests.
    func standstill(of host: String) -> ContinuousClock.Instant? { hosts[host]?.condition.standstill }

    /// The waiting elements of a host.
    func elements(of host: String) -> [Element] {
        hosts[host]?.queues.flatMap { $0.entries }.filter(isValid).map(\.element) ?? []
    }

    /// The reason why the elements of a host fail now; nil if they do not fail.
    func verdict(on host: String, _ now: ContinuousClock.Instant) -> HostCondition.Verdict? {
        hosts[host]?.condition.verdict(now)
    }

    // MARK: Waiting elements

    /// Adds an element, which waits for ``next(_:)``. The caller should add the element only if ``verdict(on:_:)``
    /// returns nil for its host.
    mutating func add(_ element: Element, host: String, order: TransferOrder, _ now: ContinuousClock.Instant) {
        tickets += 1
        waiting[ObjectIdentifier(element)] = Waiting(host: host, ticket: tickets)
        let entry = Entry(element: element, ticket: tickets)
        var state = take(host) ?? newHost(host, now)
        state.waiting += 1
        if let queue = state.queues.firstIndex(where: { $0.order == order }) {
            state.queues[queue].entries.append(entry)
        } else {
            state.queues.append(WaitQueue(order: order, entries: [entry]))
        }
        putBack(state, host, now)
    }

    /// Returns false if the element does not wait.
    @discardableResult
    mutating func remove(_ element: Element, _ now: ContinuousClock.Instant) -> Bool {
        guard let place = waiting.removeValue(forKey: ObjectIdentifier(element)) else { return false }
        invalidateEntry(of: place.host)
        noteIfIdle(place.host, now)
        return true
    }

    /// Changes the order of a waiting element. The element is placed after the elements that already have this order.
    mutating func reorder(_ element: Element, to order: TransferOrder, _ now: ContinuousClock.Instant) {
        guard let place = waiting.removeValue(forKey: ObjectIdentifier(element)) else { return }
        invalidateEntry(of: place.host)
        add(element, host: place.host, order: order, now)
    }

    /// Counts an entry of a host that is no longer valid. If most entries are invalid, drops the invalid entries, so
    /// that an element whose order changes often does not fill the memory.
    private mutating func invalidateEntry(of name: String) {
        guard var host = take(name) else { return }
        host.waiting -= 1
        host.stale += 1
        if host.stale > host.waiting + 64 {
            for queue in host.queues.indices { host.queues[queue].entries.removeAll { !isValid($0) } }
            host.queues.removeAll { $0.entries.isEmpty }
            host.stale = 0
        }
        hosts[name] = host
    }

    /// Removes and returns all waiting elements of a host.
    mutating func removeAll(of host: String, _ now: ContinuousClock.Instant) -> [Element] {
        guard var state = hosts[host] else { return [] }
        let elements = elements(of: host)
        for element in elements { waiting[ObjectIdentifier(element)] = nil }
        (state.queues, state.waiting, state.stale) = ([], 0, 0)
        hosts[host] = state
        noteIfIdle(host, now)
        return elements
    }

    // MARK: Running elements

    /// Removes the next element that may begin now from the waiting elements, counts it as running, and returns it.
    /// Returns nil if no element may begin.
    mutating func next(_ now: ContinuousClock.Instant) -> Element? {
        while let (time, name) = timed.popDue(now) {
            guard var host = take(name) else { continue }
            if host.timed == time { host.timed = nil }
            putBack(host, name, now)
        }
        let isHeld = nextTurn.map { $0 > now } ?? false
        heldUntil = isHeld ? nextTurn : nil
        for rank in ready.keys.sorted(by: >) where rank.priority >= lowestPriority && hasRoom(rank.priority) {
            if isHeld, hosts[""]?.listed.contains(rank) != true { continue }
            var held: ArraySlice<String> = []
            defer { if !held.isEmpty { ready[rank] = held + (ready[rank] ?? []) } }
            while let name = ready[rank]?.popFirst() {
                if isHeld, !name.isEmpty {
                    held.append(name)
                    continue
                }
                guard var host = take(name) else { continue }
                host.listed.remove(rank)
                let element = host.condition.nextBegin(now).map { $0 <= now } == true ? pop(&host, rank) : nil
                if let element {
                    waiting[ObjectIdentifier(element)] = nil
                    host.condition.began(now)
                    if let interval, !name.isEmpty { nextTurn = max(now, nextTurn ?? now) + interval }
                    running[rank.priority, default: 0] += 1
                }
                putBack(host, name, now)
                if let element { return element }
            }
            ready[rank] = nil
        }
        return nil
    }

    /// The time at which ``next(_:)`` may return an element even if no other method is called until then; nil if never.
    var nextTime: ContinuousClock.Instant? {
        [timed.nextTime, waiting.isEmpty ? nil : heldUntil].compactMap(\.self).min()
    }

    /// Must be called when an element of `host` that ``next(_:)`` returned at `start` has ended.
    mutating func ended(
        _ host: String, priority: Int, _ sign: HostSign, begun start: ContinuousClock.Instant,
        _ now: ContinuousClock.Instant
    ) {
        leave(priority)
        guard var state = take(host) else { return }
        state.condition.ended(sign, begun: start, now)
        putBack(state, host, now)
    }

    /// Must be called when `host` has sent a complete body.
    mutating func delivered(_ host: String) { hosts[host]?.condition.delivered() }

    /// Must be called when `host` has answered a request of an element that still runs.
    mutating func answered(_ host: String, isMultiplexed: Bool) {
        hosts[host]?.condition.answered(isMultiplexed: isMultiplexed)
    }

    /// Changes the priority of a running element.
    mutating func move(from old: Int, to new: Int) {
        leave(old)
        running[new, default: 0] += 1
    }

    private mutating func leave(_ priority: Int) {
        running[priority, default: 1] -= 1
        if running[priority] == 0 { running[priority] = nil }
    }

    private func hasRoom(_ priority: Int) -> Bool {
        places == .max || running.reduce(0) { $1.key >= priority ? $0 + $1.value : $0 } < places
    }

    // MARK: Hosts

    /// Removes and returns the next element of this rank.
    private func pop(_ host: inout Host, _ rank: Rank) -> Element? {
        while let place = host.queues.firstIndex(where: { Rank($0.order) == rank }) {
            var queue = host.queues.remove(at: place)
            while let entry = queue.entries.popFirst() {
                guard isValid(entry) else {
                    host.stale -= 1
                    continue
                }
                if !queue.entries.isEmpty { host.queues.append(queue) }
                host.waiting -= 1
                return entry.element
            }
        }
        return nil
    }

    private func isValid(_ entry: Entry) -> Bool { waiting[ObjectIdentifier(entry.element)]?.ticket == entry.ticket }

    /// Removes a host from ``hosts``, so that its queues can be changed without a copy. The caller must store the host
    /// again.
    private mutating func take(_ host: String) -> Host? { hosts.removeValue(forKey: host) }

    /// Stores a host again. If the host may begin an element now or later, also adds the host to `ready` or `timed`.
    private mutating func putBack(_ state: Host, _ name: String, _ now: ContinuousClock.Instant) {
        var state = state
        if state.waiting > 0, let time = state.condition.nextBegin(now) {
            if time <= now {
                for queue in state.queues where state.listed.insert(Rank(queue.order)).inserted {
                    ready[Rank(queue.order), default: []].append(name)
                }
            } else if time < state.timed ?? time + .seconds(1) {
                state.timed = time
                timed.add(name, at: time)
            }
        }
        if !state.isIdle { state.idleSince = nil }
        planExchange(&state, name, now)
        hosts[name] = state
        noteIfIdle(name, now)
    }

    /// Records the time at which a host became idle, and forgets hosts that are idle for too long.
    private mutating func noteIfIdle(_ host: String, _ now: ContinuousClock.Instant) {
        guard let state = hosts[host], state.isIdle, state.idleSince == nil else { return }
        hosts[host]?.idleSince = now
        hosts[host]?.queues = []
        hosts[host]?.stale = 0
        idle.append((now, host))
        while let (since, name) = idle.first {
            let isStillIdle = hosts[name]?.idleSince == since
            guard
                !isStillIdle || hosts.count > Self.memory.hosts || now - since > Self.memory.time
                    || idle.count > 2 * Self.memory.hosts
            else { break }
            idle.removeFirst()
            if isStillIdle { hosts[name] = nil }
        }
    }

    // MARK: Exchanges with other workers

    /// The least time between two exchanges of a host.
    private static var exchangePause: Duration { .milliseconds(20) }
    /// The time between two exchanges of a host if the host is in trouble or the other workers cannot be reached.
    private static var slowExchangeInterval: Duration { .seconds(1) }
    /// The longest time between two exchanges of a host with many users.
    private static var longestExchangeInterval: Duration { .seconds(2) }

    /// The time until the next exchange of a host in use. This time grows with the number of users, so that a host with
    /// many users costs Redis no more than a host with a few users.
    private static func exchangeInterval(after share: HostShare, isTroubled: Bool) -> Duration {
        if isTroubled { return slowExchangeInterval }
        let interval = Duration.milliseconds(share.isContended ? 100 : 500)
        return min(longestExchangeInterval, max(interval, .milliseconds(5 * share.users)))
    }

    /// The time at which ``takeUses(_:_:)`` may return uses; nil if never.
    var nextExchange: ContinuousClock.Instant? { exchanges.nextTime }

    private func newHost(_ name: String, _ now: ContinuousClock.Instant) -> Host {
        var host = Host(condition: HostCondition(rules(name)), exchange: Exchange(earliest: now, latest: now))
        if isShared, !name.isEmpty { host.condition.sharing = HostCondition.Sharing() }
        return host
    }

    private mutating func planExchange(_ host: inout Host, _ name: String, _ now: ContinuousClock.Instant) {
        guard let sharing = host.condition.sharing, host.exchange.sent == nil else { return }
        let exchange = host.exchange
        let isUrgent =
            if exchange.isMember {
                wanted(host) > max(sharing.permits, exchange.wanted) || host.condition.hasNews
                    || host.isIdle && sharing.isContended
            } else {
                host.waiting > 0
            }
        guard isUrgent || exchange.isMember else { return }
        let time = isUrgent ? max(now, exchange.earliest) : exchange.latest
        guard time < exchange.time ?? time + .seconds(1) else { return }
        host.exchange.time = time
        exchanges.add(name, at: time)
    }

    /// The number of requests to the host that would be under way if no other worker used the host.
    private func wanted(_ host: Host) -> Int {
        max(host.condition.running, min(host.condition.ownLimit, host.condition.running + host.waiting))
    }

    /// The uses to tell the other workers now. ``apply(_:to:_:)`` must follow for each of these hosts.
    /// - Parameter most: the largest number of hosts.
    mutating func takeUses(_ most: Int, _ now: ContinuousClock.Instant) -> [HostUse] {
        var uses: [HostUse] = []
        while uses.count < most, let (time, name) = exchanges.popDue(now) {
            guard var host = take(name) else { continue }
            if host.exchange.time == time {
                host.exchange.time = nil
                if host.exchange.isMember || !host.isIdle { uses.append(begin(&host, name, now)) }
            }
            hosts[name] = host
        }
        return uses
    }

    private func begin(_ host: inout Host, _ name: String, _ now: ContinuousClock.Instant) -> HostUse {
        let (use, learned) = host.condition.use(name, wanted: wanted(host), now)
        let permits = host.condition.sharing?.permits ?? 0
        host.exchange.sent = (use, learned, permits)
        host.exchange.isMember = use.wanted > 0
        host.exchange.wanted = use.wanted
        // The unused permits may belong to another worker as soon as Redis gets the message.
        host.condition.sharing?.permits = min(permits, use.running)
        return use
    }

    /// The uses to tell the other workers when this worker ends: it no longer needs any host.
    mutating func leaveAll(_ now: ContinuousClock.Instant) -> [HostUse] {
        hosts.compactMap { name, host in
            guard host.exchange.isMember else { return nil }
            var use = host.condition.use(name, wanted: 0, now).use
            use.running = 0
            return use
        }
    }

    /// Handles the end of an exchange.
    /// - Parameter share: the reply; nil if the other workers cannot be reached. If nil, this worker keeps its permits,
    ///   and sends one request at a time to a host for which it has no permits.
    mutating func apply(_ share: HostShare?, to name: String, _ now: ContinuousClock.Instant) {
        if share?.isAlone == true { isShared = false }
        guard var host = take(name) else { return }
        if let (use, learned, permits) = host.exchange.sent {
            host.exchange.sent = nil
            host.exchange.earliest = now + Self.exchangePause
            if let share {
                host.condition.apply(share, to: use, sent: learned, now)
                if !host.exchange.isMember { host.condition.sharing?.permits = 0 }
                let isTroubled = host.condition.isTroubled
                host.exchange.latest = now + Self.exchangeInterval(after: share, isTroubled: isTroubled)
            } else {
                host.condition.sharing?.permits = max(1, permits)
                host.exchange.earliest = now + Self.slowExchangeInterval
                host.exchange.latest = host.exchange.earliest
            }
        }
        putBack(host, name, now)
    }
}
