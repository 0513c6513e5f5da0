import DarkroomConcurrency
import Glibc

/// Finds the addresses of host names in `/etc/hosts` and by DNS, without a thread for each name.
///
/// Only one thread may use a resolver. This thread must call ``run()`` when ``descriptor`` is readable or
/// ``nextTimeout`` has passed.
final class NameResolver {
    /// The maximum number of addresses that are used for one name. A name may have hundreds of addresses.
    static let maxAddresses = 16
    /// The largest number of questions that name servers answer at the same time.
    static let maxQuestions = 64

    /// The addresses of `localhost` (RFC 6761), for which no name server is asked.
    private static let loopback = ["127.0.0.1", "::1"].compactMap { IPAddress($0[...]) }

    private struct Asked {
        let questions: Int
        /// Whether the questions count for ``maxQuestions``.
        var isCounted = true
    }

    private let servers: String?
    private let patience: Duration
    /// After this time, a name server has probably dropped a question. Therefore another question may be sent, but an
    /// answer to the first question is still accepted.
    let lostAfter: Duration
    private let answered: (String, NameCache.Answer) -> Void
    private let poller = SocketPoller()
    private var hosts: HostsFile
    private var cache = NameCache()
    private var families = AddressFamilies()
    private var channels: [NameChannel] = []
    /// The names whose answers are wanted, and their priorities.
    private var wanted: [String: Int] = [:]
    /// For each priority, the names that wait for their turn. The lists may also contain names that no longer wait. The
    /// highest priority is next.
    private var turns: [Int: ArraySlice<String>] = [:]
    private var asked: [String: Asked] = [:]
    /// The names that were asked for within ``lostAfter``, oldest first.
    private var recent: ArraySlice<(name: String, since: ContinuousClock.Instant)> = []
    private var questions = 0

    /// - Parameters:
    ///   - servers: the addresses of name servers with optional ports, separated by commas; nil: the servers in
    ///     `/etc/resolv.conf`.
    ///   - patience: the time for which the first question to a server waits for an answer.
    ///   - answered: Called with each name that was asked for and its answer, unless the name was abandoned.
    init(
        servers: String? = nil, patience: Duration = .seconds(2), hosts: HostsFile = HostsFile(),
        answered: @escaping (String, NameCache.Answer) -> Void
    ) {
        self.servers = servers
        self.patience = patience
        lostAfter = patience * 3 / 4
        self.hosts = hosts
        self.answered = answered
    }

    deinit { for channel in channels { channel.close() } }

    /// A descriptor that is readable when ``run()`` must be called.
    var descriptor: Int32 { poller.descriptor }

    /// The answer for a host name; nil if it is not known.
    /// - Parameter name: the host name in ASCII and in lower case.
    func known(_ name: String, at now: ContinuousClock.Instant = .now) -> NameCache.Answer? {
        let local = hosts.addresses(of: name)
        if local.isEmpty, name == "localhost" || name.hasSuffix(".localhost") { return .success(Self.loopback) }
        return local.isEmpty ? cache.answer(for: name, at: now) : .success(Array(local.prefix(Self.maxAddresses)))
    }

    /// Returns the answer for a host name if it is known. Otherwise asks a name server and returns nil.
    /// - Parameters:
    ///   - name: the host name in ASCII and in lower case.
    ///   - priority: the priority of the name. Names with higher priorities are asked for first.
    func answer(for name: String, priority: Int = 0, at now: ContinuousClock.Instant = .now) -> NameCache.Answer? {
        if let known = known(name, at: now) { return known }
        let before = wanted[name]
        let isNew = before.map { $0 < priority } ?? true
        if isNew { wanted[name] = priority }
        guard isNew, asked[name] == nil else { return nil }
        turns[priority, default: []].append(name)
        askNext(now)
        // Some answers need no question, for example answers for texts that are not host names.
        return cache.answer(for: name, at: now)
    }

    /// Withdraws a name that was asked for: `answered` is not called for this name.
    func abandon(_ name: String) { wanted[name] = nil }

    func run(_ now: ContinuousClock.Instant = .now) {
        let ready = poller.ready()
        for channel in channels { channel.run(ready) }
        channels.removeAll { $0.isDone }
        askNext(now)
    }

    /// The time at which ``run()`` must be called even if ``descriptor`` is not readable; nil if never.
    func nextTimeout(after now: ContinuousClock.Instant = .now) -> ContinuousClock.Instant? {
        var times = channels.compactMap { $0.nextTimeout(after: now) }
        if !turns.isEmpty, let first = recent.first { times.append(first.since + lostAfter) }
        return times.min()
    }

    // MARK: Questions

    /// Asks for the names whose turn it is.
    private func askNext(_ now: ContinuousClock.Instant) {
        while let first = recent.first, now - first.since >= lostAfter || asked[first.name] == nil {
            recent.removeFirst()
            release(first.name)
        }
        while questions < Self.maxQuestions, let priority = turns.keys.max() {
            guard let name = turns[priority]?.popFirst() else {
                turns[priority] = nil
                continue
            }
            if wanted[name] == priority, asked[name] == nil { ask(name, now) }
        }
    }

    private func ask(_ name: String, _ now: ContinuousClock.Instant) {
        let family = families.wanted(now)
        let count = family == AF_UNSPEC ? 2 : 1
        asked[name] = Asked(questions: count)
        questions += count
        recent.append((name, now))
        do throws(NameError) {
            try channel().ask(name, family: family) { [weak self] answer, lifetime in
                self?.end(name, answer, lifetime)
            }
        } catch {
            end(name, .failure(error), .zero)
        }
    }

    private func end(_ name: String, _ answer: NameCache.Answer, _ lifetime: Duration) {
        release(name)
        asked[name] = nil
        cache.keep(answer, for: name, lifetime: lifetime, at: .now)
        if wanted.removeValue(forKey: name) != nil { answered(name, answer) }
    }

    private func release(_ name: String) {
        guard let question = asked[name], question.isCounted else { return }
        asked[name]?.isCounted = false
        questions -= question.questions
    }

    private func channel() throws(NameError) -> NameChannel {
        if let last = channels.last, last.isOpen { return last }
        let new = try NameChannel(servers: servers, patience: patience, poller: poller)
        channels.append(new)
        return new
    }
}

/// The families of addresses that a machine can reach.
struct AddressFamilies {
    private static let checkInterval = Duration.seconds(10)
    private var known: (family: Int32, since: ContinuousClock.Instant)?

    /// The family to ask for: `AF_INET`, or `AF_UNSPEC` if the machine has an IPv6 address that is neither loopback nor
    /// link-local. This is the meaning of `AI_ADDRCONFIG` in RFC 3493.
    mutating func wanted(_ now: ContinuousClock.Instant) -> Int32 {
        if let known, now - known.since < Self.checkInterval { return known.family }
        let family = Self.hasIPv6() ? AF_UNSPEC : AF_INET
        known = (family, now)
        return family
    }

    private static func hasIPv6() -> Bool {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return false }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            // `ifa_addr` is nil for an interface without an address, see getifaddrs(3).
            guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET6,
                case .v6(let high, let low) = IPAddress(UnsafePointer(address))
            else { continue }
            let (isLinkLocal, isLoopback) = (high >> 54 == 0xfe80 >> 6, (high, low) == (0, 1))
            if !isLinkLocal, !isLoopback { return true }
        }
        return false
    }
}
