internal import CAres
import DarkroomConcurrency
import Glibc

/// A channel of c-ares with its sockets, for a few questions.
///
/// c-ares 1.18 sends all questions of a channel from the same port. A new port for each few questions makes it harder to
/// forge an answer (RFC 5452). A new channel also reads `/etc/resolv.conf` again.
final class NameChannel {
    /// The number of times that each server is asked. The second wait is twice as long as the first.
    private static let attempts = 2
    /// The largest number of names that are asked for on one channel.
    private static let limit = 16

    private let channel: OpaquePointer
    private let sockets: Sockets
    private var asked = 0
    private var running = 0

    /// - Parameters:
    ///   - servers: the addresses of name servers with optional ports, separated by commas; nil: the servers in
    ///     `/etc/resolv.conf`.
    ///   - patience: the time for which the first question to a server waits for an answer.
    /// - Throws: ``NameError`` if memory is exhausted or the servers cannot be used.
    init(servers: String?, patience: Duration, poller: SocketPoller) throws(NameError) {
        let sockets = Sockets(poller)
        var options = ares_options()
        options.flags = ARES_FLAG_NOALIASES
        options.timeout = Int32(patience.wholeMilliseconds)
        options.tries = Int32(Self.attempts)
        options.sock_state_cb = { context, socket, reads, writes in
            Unmanaged<Sockets>.fromOpaque(context!).takeUnretainedValue().watch(socket, reads != 0, writes != 0)
        }
        options.sock_state_cb_data = Unmanaged.passUnretained(sockets).toOpaque()
        var new: OpaquePointer?
        let lookups = strdup("b")  // only DNS; `HostsFile` reads the file
        defer { free(lookups) }
        options.lookups = lookups
        let status = ares_init_options(
            &new, &options,
            ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS)
        guard darkroom_ares_is_success(status), let new else { throw .noAnswer(Self.text(status)) }
        if let servers {
            let status = ares_set_servers_ports_csv(new, servers)
            guard darkroom_ares_is_success(status) else {
                ares_destroy(new)
                throw .noAnswer("the name servers \(servers) cannot be used: \(Self.text(status))")
            }
        }
        channel = new
        self.sockets = sockets
    }

    deinit { ares_destroy(channel) }

    /// Completes each unanswered question with an error.
    func close() { ares_cancel(channel) }

    /// Whether further names may be asked for.
    var isOpen: Bool { asked < Self.limit }
    /// Whether all questions are answered and the channel accepts no more questions. If so, the channel may be
    /// released, but not while c-ares calls a completion.
    var isDone: Bool { !isOpen && running == 0 }

    /// Asks for the addresses of `name`. The completion is called exactly once, maybe before this method returns. Its
    /// arguments are the addresses, and the time for which they are valid.
    /// - Parameter family: `AF_INET`, or `AF_UNSPEC` for both families, which are two questions.
    func ask(
        _ name: String, family: Int32, _ completion: @escaping (NameCache.Answer, _ lifetime: Duration) -> Void
    ) {
        asked += 1
        running += 1
        var hints = ares_addrinfo_hints()
        hints.ai_family = family
        hints.ai_socktype = darkroom_ares_stream()
        hints.ai_flags = Int32(ARES_AI_NOSORT)
        let question = Question { [self] answer, lifetime in
            running -= 1
            completion(answer, lifetime)
        }
        ares_getaddrinfo(
            channel, name, nil, &hints,
            { context, status, _, list in
                let question = Unmanaged<Question>.fromOpaque(context!).takeRetainedValue()
                defer { if let list { ares_freeaddrinfo(list) } }
                question.completion(NameChannel.answer(status, list), NameChannel.lifetime(list))
            }, Unmanaged.passRetained(question).toOpaque())
    }

    private final class Question {
        let completion: (NameCache.Answer, Duration) -> Void

        init(_ completion: @escaping (NameCache.Answer, Duration) -> Void) { self.completion = completion }
    }

    private static func answer(_ status: Int32, _ list: UnsafeMutablePointer<ares_addrinfo>?) -> NameCache.Answer {
        if darkroom_ares_is_missing(status) { return .failure(.notFound) }
        guard darkroom_ares_is_success(status) else { return .failure(.noAnswer(text(status))) }
        var found: [IPAddress] = []
        for node in nodes(list) {
            guard let address = node.ai_addr.flatMap({ IPAddress(UnsafePointer($0)) }), !found.contains(address) else {
                continue
            }
            found.append(address)
            if found.count == NameResolver.maxAddresses { break }
        }
        return found.isEmpty ? .failure(.notFound) : .success(found)
    }

    private static func lifetime(_ list: UnsafeMutablePointer<ares_addrinfo>?) -> Duration {
        .seconds(nodes(list).map { Int($0.ai_ttl) }.min() ?? 0)
    }

    private static func nodes(
        _ list: UnsafeMutablePointer<ares_addrinfo>?
    ) -> UnfoldSequence<ares_addrinfo_node, UnsafeMutablePointer<ares_addrinfo_node>?> {
        sequence(state: list?.pointee.nodes) { next in
            guard let node = next else { return nil }
            next = node.pointee.ai_next
            return node.pointee
        }
    }

    private static func text(_ status: Int32) -> String { String(cString: ares_strerror(status)) }

    // MARK: Sockets

    func owns(_ socket: Int32) -> Bool { sockets.open.contains(socket) }

    /// Reads and writes sockets that are ready, and repeats questions that have waited too long.
    func run(_ ready: [SocketPoller.Event]) {
        for event in ready where owns(event.socket) {
            ares_process_fd(
                channel, event.reads || event.failed ? event.socket : ARES_SOCKET_BAD,
                event.writes ? event.socket : ARES_SOCKET_BAD)
        }
        ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD)
    }

    /// The time at which ``run(_:)`` must be called even if no socket is ready; nil if never.
    func nextTimeout(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var time = timeval()
        guard ares_timeout(channel, nil, &time) != nil else { return nil }
        return now + .seconds(time.tv_sec) + .microseconds(Int(time.tv_usec))
    }

    private final class Sockets {
        private let poller: SocketPoller
        private(set) var open: Set<Int32> = []

        init(_ poller: SocketPoller) { self.poller = poller }

        func watch(_ socket: Int32, _ reads: Bool, _ writes: Bool) {
            if reads || writes {
                open.insert(socket)
                poller.watch(socket, reads: reads, writes: writes)
            } else {
                open.remove(socket)
                poller.forget(socket)
            }
        }
    }
}
