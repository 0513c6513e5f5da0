internal import CCurl
import DarkroomCoding
import DarkroomFiles
import DarkroomText
import Glibc

/// A libcurl easy handle and the data that its current attempt has received. The handle is reused for later attempts.
final class EasyHandle {
    /// The limit for all header lines together. libcurl 7.88 stores header lines without a limit.
    private static let maxHeaderBytes = 256 << 10

    let curl: UnsafeMutableRawPointer
    let settings: EasySettings
    let shares: NetworkShares
    let held: (Attempt, _ bytes: Int, _ hasBody: Bool) -> Void
    let errorText: UnsafeMutablePointer<CChar>
    private(set) var attempt: Attempt?

    /// The server of the attempt.
    private(set) var peer: NetworkShares.Peer?
    /// The headers that the ``HeaderMaker`` made for the request. If there are any, `ownHeaders` is the list of all
    /// headers of the request. libcurl does not copy this list.
    private(set) var madeHeaders: [RequestHeader] = []
    private var ownHeaders: UnsafeMutablePointer<curl_slist>?
    /// The addresses of the attempt's host in the form for libcurl. libcurl does not copy the list.
    private var addresses: UnsafeMutablePointer<curl_slist>?
    /// The body so far, decoded if it has content codings.
    var body: [UInt8] = []
    var hasStreamed = false
    /// The number of bytes of the body before its content codings are decoded.
    var received = 0
    /// The number of bytes of the body after its content codings are decoded.
    var kept = 0
    /// Decodes the content codings of the body; nil if it has none.
    var decoder: ContentDecoder?
    /// After a pause, libcurl passes bytes again. `bytesRead` of these bytes have been decoded, and `bytesCounted` of
    /// them are already counted in ``received``.
    var bytesRead = 0
    var bytesCounted = 0
    /// The number of bytes of the response after its header, including the chunk framing.
    var wireBytes = 0
    private var headerBytes = 0
    var status = 0
    /// The reason why this process ended the attempt; nil if it did not.
    var refusal: TransferError?
    private(set) var started = ContinuousClock.now
    /// Whether this attempt has already sent a request to an address of the public internet.
    private(set) var hasBeenPublic = false
    private(set) var way: [RequestStop] = []
    /// Whether the server has sent the body too slowly.
    private(set) var isSlow = false
    /// Whether this process could not open a socket.
    private(set) var hasNoSocket = false
    private(set) var isConnected = false
    var isActive = false
    private var lastActivity = ContinuousClock.now
    /// The number of bytes received in the attempt, including headers.
    var bytesCome = 0
    /// The start of the period for the average rate, and two numbers of bytes that were received before this period: by
    /// this attempt, and by all attempts of the server. Nil in the first period.
    private var rateSpan: (start: ContinuousClock.Instant, bytesBefore: Int, bytesOfServer: Int)?
    /// The number of bytes of the body that may be kept in memory.
    var allowance = 0
    /// The time at which the attempt began to wait for permission to keep more bytes; nil if it does not wait.
    var heldSince: ContinuousClock.Instant?
    /// The total duration of the ended waits for permission to keep more bytes.
    private var heldTime = Duration.zero
    /// The number of bytes of the body that libcurl may store while the attempt waits, reserved in ``NetworkShares``.
    var heldBytes = 0
    /// Whether the rest of the body is not wanted, because the attempt ends.
    var isUnwanted = false
    /// Whether the response was received to its end.
    var isComplete = false
    /// The number of bytes that the next attempt must be allowed to keep, if this attempt was ended for lack of memory.
    var bytesOfNextAttempt: Int?

    /// Creates a handle. Returns nil if there is not enough memory.
    /// - Parameter held: Called with an attempt that needs memory for `bytes` of its body and that waits for
    ///   ``proceed(mayKeep:_:)``.
    init?(
        _ settings: EasySettings, _ shares: NetworkShares,
        held: @escaping (Attempt, _ bytes: Int, _ hasBody: Bool) -> Void
    ) {
        guard let curl = curl_easy_init() else { return nil }
        self.curl = curl
        self.settings = settings
        self.shares = shares
        self.held = held
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(curl)
        curl_slist_free_all(addresses)
        curl_slist_free_all(ownHeaders)
        errorText.deallocate()
    }

    /// Prepares the handle for `attempt`. libcurl keeps a pointer to this object, so the object must exist until
    /// `clear()`.
    func prepare(_ attempt: Attempt) {
        self.attempt = attempt
        way = attempt.request.way
        hasBeenPublic = attempt.request.hasBeenPublic
        started = .now
        lastActivity = started
        allowance = attempt.allowance
        let peer = shares.join("\(attempt.host):\(attempt.request.target.port)", started)
        if attempt.sharesConnection { peer.isMultiplexed = true }
        self.peer = peer
        errorText.pointee = 0
        curl_easy_reset(curl)
        settings.apply(to: curl)
        madeHeaders = attempt.madeHeaders
        ownHeaders = settings.apply(attempt.request, madeHeaders, to: curl)
        // With this option, a request waits for a connection that another request to the same server is opening.
        // Without the option, the request would open another connection.
        darkroom_curl_easy_setopt_long(curl, CURLOPT_PIPEWAIT, attempt.sharesConnection ? 1 : 0)
        darkroom_curl_easy_setopt_long(curl, CURLOPT_STREAM_WEIGHT, Self.weight(attempt.priority))
        if !attempt.addresses.isEmpty {
            let target = attempt.request.dialled
            let texts = attempt.addresses.map { $0.bitCount == 128 ? "[\($0)]" : "\($0)" }
            // libcurl looks up the host name as it is written in the URL, possibly with a final dot.
            let names = [target.host] + (attempt.request.hop.url.contains("\(target.host).") ? ["\(target.host)."] : [])
            addresses = EasySettings.list(names.map { "+\($0):\(target.port):\(texts.joined(separator: ","))" })
            darkroom_curl_easy_setopt_list(curl, CURLOPT_RESOLVE, addresses)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_ERRORBUFFER, errorText)
        darkroom_curl_easy_setopt_write_callback(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            EasyHandle.at(context).take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_WRITEDATA, context)
        darkroom_curl_easy_setopt_write_callback(curl, CURLOPT_HEADERFUNCTION) { _, size, count, context in
            EasyHandle.at(context).receiveHeader(size * count) ? size * count : 0
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_HEADERDATA, context)
        // The chunk framing must be counted, because it may be longer than the body. Only the debug callback receives
        // the framing.
        darkroom_curl_easy_setopt_debug_callback(curl, CURLOPT_DEBUGFUNCTION) { _, kind, _, count, context in
            if kind == CURLINFO_DATA_IN { EasyHandle.at(context).wireBytes += count }
            return 0
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_DEBUGDATA, context)
        darkroom_curl_easy_setopt_long(curl, CURLOPT_VERBOSE, 1)
        // An address is checked when its connection is opened, and before each request that reuses the connection.
        darkroom_curl_easy_setopt_opensocket_callback(curl, CURLOPT_OPENSOCKETFUNCTION) { context, _, address in
            EasyHandle.at(context).openSocket(address!)
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_OPENSOCKETDATA, context)
        // A connection outlives its handle, but not the shares.
        darkroom_curl_easy_setopt_closesocket_callback(curl, CURLOPT_CLOSESOCKETFUNCTION) { shares, socket in
            Unmanaged<NetworkShares>.fromOpaque(shares!).takeUnretainedValue().close(socket)
        }
        darkroom_curl_easy_setopt_pointer(
            curl, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(shares).toOpaque())
        darkroom_curl_easy_setopt_prereq_callback(curl, CURLOPT_PREREQFUNCTION) { context, address, _, _, _ in
            EasyHandle.at(context).beginRequest(address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_PREREQDATA, context)
    }

    func clear() {
        attempt = nil
        if let peer { shares.leave(peer) }
        peer = nil
        releaseHeldBytes()
        isComplete = false
        isUnwanted = false
        bytesOfNextAttempt = nil
        forgetCookies()
        if addresses != nil {
            darkroom_curl_easy_setopt_list(curl, CURLOPT_RESOLVE, nil)
            curl_slist_free_all(addresses)
            addresses = nil
        }
        madeHeaders = []
        if ownHeaders != nil {
            darkroom_curl_easy_setopt_list(curl, CURLOPT_HTTPHEADER, nil)
            curl_slist_free_all(ownHeaders)
            ownHeaders = nil
        }
        hasStreamed = false
        way = []
        body = []
        received = 0
        kept = 0
        decoder = nil
        bytesRead = 0
        bytesCounted = 0
        wireBytes = 0
        headerBytes = 0
        status = 0
        refusal = nil
        isSlow = false
        hasNoSocket = false
        isConnected = false
        isActive = false
        bytesCome = 0
        rateSpan = nil
        allowance = 0
        heldSince = nil
        heldTime = .zero
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> EasyHandle {
        Unmanaged<EasyHandle>.fromOpaque(context!).takeUnretainedValue()  // `prepare` set it for every callback
    }

    /// The weight of a request relative to other requests of the same connection, from 16 (the default) to 256 (RFC
    /// 7540, 5.3.2). Each priority has twice the weight of the next lower priority.
    private static func weight(_ priority: Int) -> Int { 16 << max(0, min(priority, 4)) }

    // MARK: While the attempt is running

    /// Called when the connection to `address` is established, before the request. Returning false ends the attempt.
    private func beginRequest(_ address: UnsafePointer<CChar>?) -> Bool {
        isConnected = true
        isActive = true
        let text = address.map { String(cString: $0) } ?? ""
        guard let found = IPAddress(text.prefix { $0 != "%" }), allows(found) else {
            refusal = denied(text)
            return false
        }
        if settings.allows(found) { hasBeenPublic = true }
        let address = settings.configuration.proxy == nil ? found.description : RequestStop.proxy
        way.append(RequestStop(host: attempt?.host ?? "", address: address))
        return true
    }

    private func allows(_ address: IPAddress) -> Bool {
        settings.allows(address) || settings.configuration.mayStartAnywhere && !hasBeenPublic
    }

    private func denied(_ address: String) -> TransferError {
        guard settings.configuration.mayStartAnywhere else {
            return .denied(settings.configuration.proxy == nil ? address : "the proxy's address \(address)")
        }
        return TransferError(
            code: .addressDenied,
            detail: "\(address) is not an address of the public internet, but the redirect comes from the "
                + "public internet; if you trust the address, give the URL to which the redirect leads")
    }

    /// Counts the bytes of a header line. If this method returns false, the attempt ends.
    private func receiveHeader(_ count: Int) -> Bool {
        isActive = true
        peer?.isActive = true
        if headerBytes == 0 { peer?.answered(.now) }
        peer?.bytes += count
        bytesCome += count
        headerBytes += count
        // An empty line ends the header.
        if count <= 2, let rules = settings.optOut, let found = optOut(rules) {
            refusal = TransferError(code: .optedOut, detail: "the server sends \(found)")
            return false
        }
        guard headerBytes > Self.maxHeaderBytes else { return true }
        refusal = TransferError(code: .tooLarge, detail: "more than \(Self.maxHeaderBytes) bytes of header")
        return false
    }

    /// The header line of a successful response that forbids the use of the photo, such as `X-Robots-Tag: noai`; nil if
    /// there is none. Redirects are not checked: they contain no photo, and short links often have `noindex` so that
    /// only their targets are indexed.
    private func optOut(_ rules: OptOut) -> String? {
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_RESPONSE_CODE, &status)
        guard isSuccess else { return nil }
        let tag = headers("X-Robots-Tag").lazy.compactMap(rules.directive(inRobotsTag:)).first
        if let tag { return "X-Robots-Tag: \(tag)" }
        return headers("TDM-Reservation").contains(where: rules.reserves) ? "TDM-Reservation: 1" : nil
    }

    /// The values of all header lines with this name in the last response.
    func headers(_ name: String) -> [String] {
        var values: [String] = []
        var header: UnsafeMutablePointer<curl_header>?
        while curl_easy_header(curl, name, values.count, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
            let value = header?.pointee.value
        {
            values.append(String(cString: value))
        }
        return values
    }

    /// Records whether the response came over HTTP/2, for the other attempts to the server.
    @discardableResult
    func noteVersion() -> Bool? {
        let isMultiplexed = isMultiplexed
        if let isMultiplexed { peer?.isMultiplexed = isMultiplexed }
        return isMultiplexed
    }

    /// Whether the response came over HTTP/2; nil if there is no response.
    var isMultiplexed: Bool? {
        var version = 0
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_HTTP_VERSION, &version)
        return version == Int(CURL_HTTP_VERSION_NONE) ? nil : version == Int(CURL_HTTP_VERSION_2_0)
    }

    /// Continues a held attempt.
    /// - Parameter bytes: the number of bytes of the body that the attempt may keep in memory.
    /// - Returns: libcurl's result; if it is an error, the attempt has failed.
    func proceed(mayKeep bytes: Int, _ now: ContinuousClock.Instant) -> CURLcode {
        guard let since = heldSince else { return CURLE_OK }
        heldSince = nil
        releaseHeldBytes()
        heldTime += now - since
        lastActivity = now
        rateSpan = (now, bytesCome, peer?.bytes ?? 0)
        allowance = max(allowance, bytes)
        return curl_easy_pause(curl, CURLPAUSE_CONT)
    }

    private func releaseHeldBytes() {
        shares.release(heldBytes)
        heldBytes = 0
    }

    /// Must be called before the handle is removed from libcurl's multi handle. Without this call, libcurl 7.88 would
    /// keep the bytes of a held body in memory while other attempts use the connection.
    /// - Returns: whether the handle may be used again.
    func finish() -> Bool {
        noteVersion()
        guard heldSince != nil else { return true }
        isUnwanted = true
        return curl_easy_pause(curl, CURLPAUSE_CONT) != CURLE_BAD_FUNCTION_ARGUMENT
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        isConnected = false
        let (family, kind, number) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        let target = withUnsafePointer(to: &address.pointee.addr) { IPAddress($0) }
        guard let target, allows(target) else {
            refusal = denied(target?.description ?? "an address that is neither IPv4 nor IPv6")
            return CURL_SOCKET_BAD
        }
        let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), number)
        if descriptor < 0 {
            refusal = TransferError(code: .connectFailed, detail: "no socket: \(systemErrorText())")
            hasNoSocket = true
            return CURL_SOCKET_BAD
        }
        if let peer { shares.opened(descriptor, to: peer.name) }
        refusal = nil  // if one address is allowed, earlier denied addresses do not matter
        return descriptor
    }

    /// Whether the attempt must end because the server sends nothing for too long, sends too slowly, or sends far more
    /// bytes than its body needs. `NetworkLoop` calls this method periodically.
    /// - Parameter isCrowded: whether many servers send slowly, so that a low rate is not the fault of this server.
    func hasStalled(_ now: ContinuousClock.Instant, isCrowded: Bool) -> Bool {
        guard heldSince == nil else { return false }
        if let timeout = settings.configuration.timeout, time(now) >= timeout {
            refusal = TransferError(code: .timeout, detail: "the download took longer than \(timeout)")
            return true
        }
        if isActive || !isConnected {
            isActive = false
            lastActivity = now
        }
        let limit = settings.configuration.stallTimeout
        guard now - lastActivity >= limit else { return isTooWasteful || isTooSlow(now, isCrowded) }
        refusal = TransferError(code: .stalled, detail: "no data for \(limit), after \(received) bytes")
        return true
    }

    /// Whether the attempt opens a connection for which other attempts may wait, or waits for such a connection.
    var isWaitingForConnection: Bool { attempt?.sharesConnection == true && !isConnected }

    /// Whether the server, which uses HTTP/2, has sent nothing to any attempt during the stall timeout.
    func hasLostServer(_ now: ContinuousClock.Instant) -> Bool {
        guard let peer, peer.isMultiplexed == true else { return false }
        return now - peer.lastActivity >= settings.configuration.stallTimeout
    }

    /// The duration of the requests of the attempt, excluding the time for which the attempt was held.
    func time(_ now: ContinuousClock.Instant) -> Duration {
        (attempt?.request.spent ?? .zero) + (now - started) - heldTime
    }

    /// The bytes per second in the current period; nil if the attempt is not receiving a body.
    func rate(_ now: ContinuousClock.Instant) -> Double? {
        guard received > 0, heldSince == nil else { return nil }
        let seconds: Double = max(0.1, (now - (rateSpan?.start ?? started)) / .seconds(1))
        return Double(bytesCome - (rateSpan?.bytesBefore ?? 0)) / seconds
    }

    /// Whether the average rate of the last period was below the minimum. The first period is not checked.
    private func isTooSlow(_ now: ContinuousClock.Instant, _ isCrowded: Bool) -> Bool {
        let (least, span) = (settings.configuration.minBytesPerSecond, settings.configuration.minRateSpan)
        let passed = now - (rateSpan?.start ?? started)
        guard least > 0, passed >= span else { return false }
        let seconds: Double = passed / .seconds(1)
        let rate = Int(Double(bytesCome - (rateSpan?.bytesBefore ?? 0)) / seconds)
        let rateOfServer = Int(Double((peer?.bytes ?? 0) - (rateSpan?.bytesOfServer ?? 0)) / seconds)
        // With HTTP/2, attempts of higher priorities may use most of the connection. If so, this attempt is slow, but
        // the average of all attempts is not.
        let isServerSlow = peer.map { $0.isMultiplexed != true || rateOfServer < least * max(1, $0.users) } ?? true
        let isFirst = rateSpan == nil
        rateSpan = (now, bytesCome, peer?.bytes ?? 0)
        guard !isFirst, isConnected, rate < least, isServerSlow, !isCrowded else { return false }
        isSlow = true
        refusal = TransferError(
            code: .stalled,
            detail: "\(rate) bytes per second over \(span), less than \(least), after \(received) bytes")
        return true
    }
}
