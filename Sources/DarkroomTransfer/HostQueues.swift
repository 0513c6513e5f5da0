/// Who runs and who waits, with a limit for each host. A plain value: no server needed to test it.
struct HostQueues<Element> {
    private struct Host {
        var running = 0
        var waiting: ArraySlice<Element> = []
    }

    private let limit: Int
    private var hosts: [String: Host] = [:]

    /// `limit` elements of a host run at once, any number when it is `nil`.
    init(limit: Int?) { self.limit = limit.map { max(1, $0) } ?? .max }

    /// Whether `element` runs now and holds a place at `host`; otherwise it waits for `release`.
    mutating func admit(_ element: Element, host: String) -> Bool {
        if hosts[host, default: Host()].running < limit {
            hosts[host, default: Host()].running += 1
            return true
        }
        hosts[host]?.waiting.append(element)
        return false
    }

    /// Gives back a place at `host` and returns who gets it: the first that waits and that `isWanted`.
    mutating func release(_ host: String, isWanted: (Element) -> Bool) -> Element? {
        guard let index = hosts.index(forKey: host) else { return nil }
        while let next = hosts.values[index].waiting.popFirst() {
            if isWanted(next) { return next }
        }
        hosts.values[index].running -= 1
        if hosts.values[index].running == 0 { hosts.remove(at: index) }
        return nil
    }
}
