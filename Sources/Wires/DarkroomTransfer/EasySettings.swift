internal import CCurl
import DarkroomTLS
import DarkroomText

/// The libcurl options that are the same for all attempts of an engine.
final class EasySettings {
    let configuration: TransferConfiguration
    let hosts: HostRules
    /// nil if opt-outs are ignored.
    let optOut: OptOut?
    /// Returns whether a connection to an address may be opened or reused.
    let allows: @Sendable (IPAddress) -> Bool
    /// Header lists, each created at its first use. A key contains the indices of the header lines for a host.
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
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_HTTP_VERSION, Int(configuration.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
        set(CURLOPT_FOLLOWLOCATION, 0)  // `Redirects` follows them
        set(CURLOPT_USERAGENT, configuration.userAgent)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, configuration.connectTimeout.wholeMilliseconds))
        set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 250)  // RFC 8305
        // An attempt gets the addresses of its name. libcurl needs them only until it connects.
        set(CURLOPT_DNS_CACHE_TIMEOUT, 10)
        set(CURLOPT_BUFFERSIZE, 16 << 10)
        set(CURLOPT_FILETIME, 1)
        darkroom_curl_easy_setopt_offset(curl, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(configuration.maxBytes))
        darkroom_curl_easy_setopt_list(curl, CURLOPT_CONNECT_TO, connectTo)
    }

    /// Sets the options that differ for each request.
    func apply(_ request: Request, to curl: UnsafeMutableRawPointer) {
        let hop = request.hop
        darkroom_curl_easy_setopt_string(curl, CURLOPT_URL, hop.url)
        var wanted = configuration.headers.indices.filter { hop.takes(configuration.headers[$0]) }
        // Turns the cookies of this handle on.
        darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIEFILE, "")
        if !request.cookies.isEmpty {
            for cookie in request.cookies { darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIELIST, cookie) }
            // A request must not have two `Cookie` lines (RFC 6265, 5.4), so libcurl adds the cookies of the user.
            let own = wanted.filter { configuration.headers[$0].name == "cookie" }
            wanted.removeAll(where: own.contains)
            let values = own.map { configuration.headers[$0].value }.filter { !$0.isEmpty }
            if !values.isEmpty {
                darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIE, values.joined(separator: "; "))
            }
        }
        darkroom_curl_easy_setopt_list(curl, CURLOPT_HTTPHEADER, headers(wanted))
        // The sessions of a proxy with TLS could not be told from those of the host.
        let isProxyEncrypted = configuration.proxy?.scheme == .https
        if isProxyEncrypted || hop.url.hasPrefix("https:") {
            authorities.apply(to: curl, resumesSessions: !isProxyEncrypted)
        }
    }

    /// Whether a header of the user asks for a part of the photo.
    func asksForPart(_ hop: Redirects.Hop) -> Bool {
        configuration.headers.contains { $0.name == "range" && hop.takes($0) }
    }

    /// - Parameter wanted: the indices of headers of the configuration.
    private func headers(_ wanted: [Int]) -> UnsafeMutablePointer<curl_slist>? {
        if let list = headers[wanted] { return list }
        var lines = wanted.map { configuration.headers[$0].line }
        if let accept = configuration.accept, !wanted.contains(where: { configuration.headers[$0].name == "accept" }) {
            lines.append("Accept: \(accept)")
        }
        guard !lines.isEmpty else { return nil }
        let list = Self.list(lines)
        headers[wanted] = list
        return list
    }

    static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
        lines.reduce(nil) { curl_slist_append($0, $1) ?? $0 }
    }
}
