internal import CCurl
import DarkroomConcurrency
import DarkroomText
import Glibc

// DESIGN
//
// The loop uses libcurl's multi_socket interface: libcurl tells the loop for which sockets and until which time libcurl
// waits, and the loop tells libcurl which of these sockets are ready. The cost of an iteration depends only on the
// number of ready sockets. TLS handshakes, up to some milliseconds of processor time each, run on this thread. A
// handshake delays other attempts of this thread, but it does not delay the thread of the engine, which begins and
// cancels transfers.

final class NetworkLoop {
    private let settings: EasySettings
    private let shares: NetworkShares
    private let mailbox: Mailbox<NetworkMessage>
    private let wakeup: Wakeup
    private let ended: (Attempt, Attempt.Outcome) -> Void
    private let held: (Attempt, _ bytes: Int, _ hasBody: Bool) -> Void
    private let multi: UnsafeMutableRawPointer
    private let poller = SocketPoller()

    private var running: [ObjectIdentifier: EasyHandle] = [:]
    private var handles: [UnsafeMutableRawPointer: EasyHandle] = [:]
    private var spare: [EasyHandle] = []
    private static let maxSpare = 256
    private static let crowd = 16
    /// The time at which the loop must call libcurl even if no socket is ready; nil if never.
    private var nextTimeout: ContinuousClock.Instant?
    private var nextSweep = ContinuousClock.now
    private var isShutDown = false
    private let maxConnections: Int
    /// The number of connections that libcurl may keep open, including connections in use. If there are more, libcurl
    /// closes the connection that has been idle for the longest time.
    private var connectionLimit = 0

    init(
        _ settings: EasySettings, _ shares: NetworkShares, maxConnections: Int, mailbox: Mailbox<NetworkMessage>,
        wakeup: Wakeup,
        ended: @escaping (Attempt, Attempt.Outcome) -> Void,
        held: @escaping (Attempt, _ bytes: Int, _ hasBody: Bool) -> Void
    ) {
        // Without this handle, no transfer can run. The handle needs only memory, and it is created before the first
        // transfer, so a failure ends the program.
        guard let multi = curl_multi_init() else { fatalError("no memory for a libcurl multi handle") }
        self.settings = settings
        self.shares = shares
        self.mailbox = mailbox
        self.wakeup = wakeup
        self.ended = ended
        self.held = held
        self.multi = multi
        self.maxConnections = maxConnections
        darkroom_curl_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, ConnectionLimit.mostStreams)
    }

    deinit { if !isShutDown { curl_multi_cleanup(multi) } }  // the thread was never started

    func run() {
        blockBrokenPipeSignal()
        connect()
        while true {
            for message in mailbox.take() { handle(message) }
            if isShutDown { break }
            runSockets()
            runTimeouts(.now)
            endFinished()
            sweep(.now)  // after libcurl has received the data that is available
            if mailbox.prepareToSleep() {
                wakeup.wait(for: poller.descriptor, events: Int16(POLLIN), until: nextWake)
            }
        }
        end()
    }

    /// Sets the functions by which libcurl tells the loop for what libcurl waits. libcurl keeps a pointer to this
    /// object, so the object must exist until ``end()``.
    private func connect() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        darkroom_curl_multi_setopt_socket_callback(multi, CURLMOPT_SOCKETFUNCTION) { _, socket, action, context, _ in
            let poller = NetworkLoop.at(context).poller
            if action == CURL_POLL_REMOVE {
                poller.forget(socket)
            } else {
                poller.watch(socket, reads: action & CURL_POLL_IN != 0, writes: action & CURL_POLL_OUT != 0)
            }
            return 0
        }
        darkroom_curl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, context)
        darkroom_curl_multi_setopt_timer_callback(multi, CURLMOPT_TIMERFUNCTION) { _, milliseconds, context in
            NetworkLoop.at(context).nextTimeout = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
            return 0
        }
        darkroom_curl_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, context)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> NetworkLoop {
        Unmanaged<NetworkLoop>.fromOpaque(context!).takeUnretainedValue()  // `connect` set it for every callback
    }

    private func end() {
        _ = mailbox.close()
        for handle in handles.values { curl_multi_remove_handle(multi, handle.curl) }
        handles = [:]
        running = [:]
        spare = []
        curl_multi_cleanup(multi)
    }

    // MARK: Attempts

    private func handle(_ message: NetworkMessage) {
        switch message {
        case .begin(let attempt): begin(attempt)
        case .abort(let attempt):
            guard let handle = running[ObjectIdentifier(attempt)] else { return }  // the attempt has ended
            end(handle, .failed(.cancelled, "cancelled"))
        case .proceed(let attempt, let bytes):
            guard let handle = running[ObjectIdentifier(attempt)] else { return }  // the attempt has ended
            let code = handle.proceed(mayKeep: bytes, .now)
            if code != CURLE_OK { end(handle, handle.outcome(code)) }
        case .shutdown: isShutDown = true
        }
    }

    private func begin(_ attempt: Attempt) {
        guard let handle = spare.popLast() ?? EasyHandle(settings, shares, held: held) else {
            return refuse(attempt, "no memory for a libcurl handle")
        }
        handle.prepare(attempt)
        let status = curl_multi_add_handle(multi, handle.curl)
        guard status == CURLM_OK else {
            handle.clear()
            return refuse(attempt, "libcurl rejected the transfer: \(String(cString: curl_multi_strerror(status)))")
        }
        running[ObjectIdentifier(attempt)] = handle
        handles[handle.curl] = handle
        limitConnections()
    }

    /// Allows the connections in use and some idle connections. An idle connection with TLS costs about 50 kB of
    /// memory; opening it again would cost about 1 ms of processor time.
    private func limitConnections() {
        let limit = min(maxConnections, running.count + maxConnections / 4)
        guard limit != connectionLimit else { return }
        connectionLimit = limit
        darkroom_curl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, limit)
    }

    private func refuse(_ attempt: Attempt, _ detail: String) {
        ended(attempt, .failed(.outOfMemory, detail))
    }

    /// Ends the attempt of `handle`. If the response is not complete, libcurl closes the connection, or resets the
    /// stream with HTTP/2.
    private func end(_ handle: EasyHandle, _ outcome: Attempt.Outcome) {
        guard let attempt = handle.attempt else { return }
        let isReusable = handle.finish()
        curl_multi_remove_handle(multi, handle.curl)
        if !handle.isComplete, handle.isConnected, let peer = handle.peer { shares.abandoned(peer) }
        handles[handle.curl] = nil
        running[ObjectIdentifier(attempt)] = nil
        handle.clear()
        if isReusable, spare.count < Self.maxSpare { spare.append(handle) }
        ended(attempt, outcome)
    }

    // MARK: libcurl

    private func runSockets() {
        var count: Int32 = 0
        for event in poller.ready() {
            let reads = event.reads ? CURL_CSELECT_IN : 0
            let writes = event.writes ? CURL_CSELECT_OUT : 0
            let fails = event.failed ? CURL_CSELECT_ERR : 0
            curl_multi_socket_action(multi, event.socket, reads | writes | fails, &count)
        }
    }

    private func runTimeouts(_ now: ContinuousClock.Instant) {
        guard let due = nextTimeout, due <= now else { return }
        nextTimeout = nil  // libcurl sets the next timeout
        var count: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &count)
    }

    private func endFinished() {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = handles[message.pointee.easy_handle] else {
                continue
            }
            let outcome = handle.outcome(message.pointee.data.result)
            let (peer, isWaiting) = (handle.peer, handle.isWaitingForConnection)
            end(handle, outcome)
            if isWaiting, outcome.sign == .silent, let peer { endWaiting(for: peer, outcome) }
        }
    }

    /// Must be called when an attempt could not open a connection: ends the attempts that wait for this connection.
    /// libcurl would let these attempts try to open the connection one after the other.
    private func endWaiting(for peer: NetworkShares.Peer, _ outcome: Attempt.Outcome) {
        for other in Array(handles.values) where other.peer === peer && other.isWaitingForConnection {
            var outcome = outcome
            outcome.countsForHost = false
            end(other, outcome)
        }
    }

    /// Ends stalled attempts. libcurl applies the other timeouts.
    private func sweep(_ now: ContinuousClock.Instant) {
        guard now >= nextSweep else { return }
        nextSweep = now + settings.configuration.sweepInterval
        let isCrowded = isCrowded(now)
        shares.sweep(now)
        for handle in Array(handles.values) where handle.hasStalled(now, isCrowded: isCrowded) {
            if let peer = handle.peer, handle.hasLostServer(now) { shares.shutDown(peer) }
            end(handle, handle.outcome(CURLE_ABORTED_BY_CALLBACK))
        }
    }

    /// Whether many servers send slowly, so that the network connection of this machine is probably the reason.
    private func isCrowded(_ now: ContinuousClock.Instant) -> Bool {
        let rates = handles.values.compactMap { $0.rate(now) }
        let slow = Double(2 * settings.configuration.minBytesPerSecond)
        return rates.count >= Self.crowd && rates.reduce(0, +) < slow * Double(rates.count)
    }

    /// The time at which the loop must run even if no socket is ready and no message arrives; nil if never.
    private var nextWake: ContinuousClock.Instant? {
        let sweep = handles.isEmpty ? nil : nextSweep
        return [nextTimeout, sweep].compactMap { $0 }.min()
    }
}
