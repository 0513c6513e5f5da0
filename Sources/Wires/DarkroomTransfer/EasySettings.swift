internal import CCurl
import DarkroomTLS
import DarkroomText

/// The libcurl options that are the same for all attempts of an engine.
final class EasySettings {
    let configuration: TransferConfiguration
    let hosts: HostRules
    /// Finds opt-outs in header lines; nil if the engine ignores opt-outs.
    let optOut: OptOut?
    /// Returns whether a connection to an address may be opened or reused.
    let allows: @Sendable (IPAddress) -> Bool
    /// The header lists. Each list is created at its first use. Its key contains the indices of its lines in the
    /// configuration.
    private var headers: [[Int]: UnsafeMutablePointer<curl_slist>] = [:]
    private let connectTo: UnsafeMutablePointer<curl_slist>?
    private let authorities: CertificateAuthorities

    init(_ configuration: TransferConfiguration, allows: @escaping @Sendable (IPAddress) -> Bool) {
        self.configuration = configuration
        self.allows = allows
        optOut = configuration.skipsOptedOut ? OptOut(userAgent: configuration.userAgent) : nil
        authorities = .of(configuration.authorities)
        hosts = configuration.hostRules
        connectTo = Self.list(configuration.connectTo.compactMap(ConnectRule.init).map(\.text))
    }

    deinit {
        for list in headers.values { curl_slist_free_all(list) }
        curl_slist_free_all(connectTo)
    }

    /// Sets the options of `curl` that do not depend on the URL. The results are not checked, because libcurl 7.88 and
    /// later versions support all these options.
    func apply(to curl: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: Int) { darkroom_curl_easy_setopt_long(curl, option, value) }
        func set(_ option: CURLoption, _ value: String) { darkroom_curl_easy_setopt_string(curl, option, value) }

        set(CURLOPT_NOSIGNAL, 1)
        if let proxy = configuration.proxy {
            proxy.apply(to: curl)
        } else {
            set(CURLOPT_PROXY, "")  // otherwise libcurl takes a proxy from the environment
        }
        set(CURLOPT_PROTOCOLS_STR, URLScheme.webProtocols)
        set(CURLOPT_HTTP_VERSION, Int(configuration.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_FOLLOWLOCATION, 0)  // `Redirects` follows redirects
        set(CURLOPT_USERAGENT, configuration.userAgent)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, configuration.connectTimeout.wholeMilliseconds))
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 250)  // RFC 8305
        // Each attempt passes the addresses of its host to libcurl, which needs them only until it connects.
        set(CURLOPT_DNS_CACHE_TIMEOUT, 10)
        set(CURLOPT_BUFFERSIZE, 16 << 10)
        set(CURLOPT_FILETIME, 1)
        darkroom_curl_easy_setopt_offset(curl, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(configuration.maxBytes))
        darkroom_curl_easy_setopt_list(curl, CURLOPT_CONNECT_TO, connectTo)
    }

    /// Sets the options that differ for each request.
    /// - Parameter made: the headers that were made for this request.
    /// - Returns: the list of all headers of the request if `made` is not empty; otherwise nil. The caller must free
    ///   the list after the request.
    func apply(
        _ request: Request, _ made: [RequestHeader], to curl: UnsafeMutableRawPointer
    ) -> UnsafeMutablePointer<curl_slist>? {
        let hop = request.hop
        let known = made.isEmpty ? configuration.headers : configuration.headers + made
        darkroom_curl_easy_setopt_string(curl, CURLOPT_URL, hop.url)
        var wanted = known.indices.filter { hop.takes(known[$0]) }
        // Enables cookies for this handle.
        darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIEFILE, "")
        if !request.cookies.isEmpty {
            for cookie in request.cookies { darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIELIST, cookie) }
            // A request must not have two `Cookie` lines (RFC 6265, 5.4). Therefore the cookies of the user are passed
            // to libcurl, which adds them to its `Cookie` line.
            let own = wanted.filter { known[$0].name == "cookie" }
            wanted.removeAll(where: own.contains)
            let values = own.map { known[$0].value }.filter { !$0.isEmpty }
            if !values.isEmpty {
                darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIE, values.joined(separator: "; "))
            }
        }
        let list = made.isEmpty ? headers(wanted) : Self.list(lines(wanted.map { known[$0] }))
        darkroom_curl_easy_setopt_list(curl, CURLOPT_HTTPHEADER, list)
        // With an encrypted proxy, the TLS sessions of the proxy and of the host could not be distinguished.
        let isProxyEncrypted = configuration.proxy?.scheme == .https
        if isProxyEncrypted || URLScheme.of(hop.url)?.isEncrypted == true {
            authorities.apply(to: curl, resumesSessions: !isProxyEncrypted)
        }
        return made.isEmpty ? nil : list
    }

    /// Whether a header asks for a part of the photo.
    /// - Parameter made: the headers that were made for the request.
    func asksForPart(_ hop: Redirects.Hop, _ made: [RequestHeader]) -> Bool {
        (configuration.headers + made).contains { $0.name == "range" && hop.takes($0) }
    }

    /// - Parameter wanted: the indices of headers of the configuration.
    private func headers(_ wanted: [Int]) -> UnsafeMutablePointer<curl_slist>? {
        if let list = headers[wanted] { return list }
        let list = Self.list(lines(wanted.map { configuration.headers[$0] }))
        headers[wanted] = list
        return list
    }

    private func lines(_ headers: [RequestHeader]) -> [String] {
        let accept = headers.contains { $0.name == "accept" } ? nil : configuration.accept
        return headers.map(\.line) + (accept.map { ["Accept: \($0)"] } ?? [])
    }

    static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        lines.reduce(nil) { curl_slist_append($0, $1) ?? $0 }
    }
}
