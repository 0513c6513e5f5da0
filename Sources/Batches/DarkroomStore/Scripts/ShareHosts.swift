import DarkroomHosts
import DarkroomModel

extension BatchStore {
    /// The maximum number of hosts in a call of ``shareHosts(worker:_:)``, so that a call blocks Redis for about a
    /// millisecond.
    package static let hostsAtOnce = 50

    /// Shares hosts between workers: gives the worker permits for its requests, and exchanges the facts that workers
    /// have learned about the hosts. The reply has a share for each host, in the order of `uses`.
    /// - Parameter uses: at most ``hostsAtOnce``.
    package func shareHosts(worker: String, _ uses: [HostUse]) -> ScriptCall<[HostShare]> {
        var arguments: [any ScriptArgument] = [worker]
        for use in uses {
            let running = min(use.running, HostUse.mostRequests)
            arguments += [use.host, running, use.wanted, use.limit, use.most] as [any ScriptArgument]
            arguments += [use.limitChange.text, use.rateChange.text] as [any ScriptArgument]
            arguments +=
                [use.state.text, use.answered.map { String($0.wholeMilliseconds) } ?? ""] as [any ScriptArgument]
        }
        let count = uses.count
        return call(\.shareHosts, arguments) { reply throws(StoreError) in
            guard reply.status == "OK" else { throw reply.unexpected }
            var shares: [HostShare] = []
            for host in 0..<count { shares.append(try HostShare(reply, at: 1 + 9 * host)) }
            return shares
        }
    }
}

extension HostShare {
    /// Numbers and times out of range, which another program has written, are corrected or left out.
    fileprivate init(_ reply: ScriptReply, at: Int) throws(StoreError) {
        self.init(permits: max(0, min(try reply.int(at), HostUse.mostRequests)))
        users = max(1, min(try reply.int(at + 1), 1_000_000))
        all = max(permits, min(try reply.int(at + 2), 100_000_000))
        isContended = try reply.int(at + 3) == 1
        let (limit, rate) = (try reply.int(at + 4), try reply.int(at + 5))
        self.limit = (1...HostUse.mostRequests).contains(limit) ? limit : nil
        self.rate = (1...100_000_000).contains(rate) ? rate : nil
        version = try reply.int(at + 6)
        state = SharedHostState(try reply.string(at + 7))
        answered = Int(try reply.string(at + 8)).map { .milliseconds(max(0, $0)) }
    }
}

extension HostUse.Change? {
    fileprivate var text: String {
        switch self {
        case .raised(let number): "+\(number)"
        case .lowered(let number): "-\(number)"
        case nil: ""
        }
    }
}

extension SharedHostState? {
    fileprivate var text: String {
        switch self {
        case .up: "up"
        case .troubled(let trouble, let since, let next, let count):
            // Rounded up, so that no worker sends a request too early.
            "\(trouble) \(since.wholeMilliseconds) \(next.wholeMilliseconds + 1) \(count)"
        case nil: ""
        }
    }
}

extension SharedHostState {
    /// The longest valid time: three years, in milliseconds.
    private static let most = 100_000_000_000

    /// Nil if Darkroom did not write `text`.
    fileprivate init?(_ text: String) {
        if text == "up" {
            self = .up
            return
        }
        let words = text.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }.filter { (0...Self.most).contains($0) }
        guard numbers.count == 3, words.count == 4, let trouble = Trouble(rawValue: String(words[0])) else {
            return nil
        }
        self = .troubled(
            trouble, since: .milliseconds(numbers[0]), next: .milliseconds(numbers[1]), count: min(numbers[2], 1000))
    }
}
