import DarkroomTLS

/// The rules, limits and timeouts of a transfer engine.
package struct TransferConfiguration: Sendable {
    /// The largest number of concurrent requests to one host; `nil`: ``ConnectionLimit`` learns this number.
    package var perHost: Int?
    /// Whether HTTP/2 is used with servers that offer it during the TLS handshake (ALPN).
    package var usesHTTP2 = true
    /// The largest number of requests per second to one host; `nil` means no limit, unless the host refuses requests.
    package var rate: Double?
    /// The largest number of requests per second to all hosts together; `nil` means no limit.
    package var totalRate: Double?
    /// For each priority, the largest number of concurrent requests of this priority and higher priorities. Transfers
    /// that wait for the addresses of their host, for their turn or for their next attempt do not count.
    package var maxRequests = 2_000
    /// The time for which a host may be silent or refuse all requests before its transfers fail.
    package var patience: Duration = .seconds(60)
    /// The addresses of the name servers with optional ports, separated by commas; `nil`: the servers in
    /// `/etc/resolv.conf`.
    package var nameServers: String?
    /// The time limit of each attempt from its start to the end of the handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// If a connected server sends nothing for this long, the attempt ends.
    package var stallTimeout: Duration = .seconds(30)
    /// The lowest accepted rate of a connected server in bytes per second, averaged over `minRateSpan`. The first
    /// period is not checked. 0 means no limit. While many servers send slowly, none of them counts as too slow,
    /// because the network connection of this machine is probably the reason.
    package var minBytesPerSecond = 4 << 10
    package var minRateSpan: Duration = .seconds(10)
    /// The time limit of each attempt as a whole, excluding waits in this process; `nil` means no limit.
    package var timeout: Duration? = .seconds(300)
    /// The largest accepted body, in bytes.
    package var maxBytes = 64 << 20
    /// The largest number of redirects in one attempt.
    package var maxRedirects = 5
    /// The largest number of further attempts after temporary failures of a transfer. Each further attempt must begin
    /// within ``retryTime`` after the first failure. Refusals and silence of a host do not count, see ``patience``.
    package var retries = 100
    package var retryTime: Duration = .seconds(90)
    /// The pauses before the further attempts that ``retries`` limits; the last pause is repeated. Each pause is
    /// shortened at random by up to half.
    package var retryPauses: [Duration] = [.seconds(1), .seconds(5), .seconds(20), .seconds(60)]
    /// Header lines such as `Accept: image/*`, which are sent with every request to their hosts. A ``HeaderMaker``
    /// makes headers that differ for each request.
    ///
    /// A header with a host pattern is sent only to matching hosts, also after redirects, and never after a redirect
    /// from `https:` to `http:`. A header without a pattern may be a secret. Therefore, after a redirect to another
    /// scheme, host or port, such a header is sent only if it is `Accept...:`, `User-Agent:`, `Cache-Control:` or
    /// `DNT:`.
    package var headers: [RequestHeader] = []
    package var userAgent = "darkroom"
    /// The value of `Accept`, unless one of ``headers`` sets it; nil: `*/*`.
    package var accept: String?
    /// Whether a photo fails if its response opts out of its use, see ``OptOut``.
    package var skipsOptedOut = false
    /// Whether connections to loopback, private, link-local and other non-public addresses are allowed.
    package var allowPrivate = false
    /// Whether the host of the URL itself may have any address. The caller sets this for URLs that a user has entered.
    /// A redirect from a non-public address may lead to any address. A redirect from a public address must lead to a
    /// public address.
    package var mayStartAnywhere = false
    /// Non-public networks to which connections are allowed.
    package var allowedNetworks: [NetworkRange] = []
    /// The hosts to which requests are allowed, including requests after redirects; empty allows all hosts.
    package var allowedHosts: [HostPattern] = []
    /// The hosts to which requests are denied, even if they match `allowedHosts`.
    package var deniedHosts: [HostPattern] = []
    /// The folders from which `file:` URLs may read files; none by default. Links are resolved before the check.
    package var fileFolders: [String] = []
    /// `HOST:PORT:HOST:PORT`: requests to the first host and port are sent to the second host and port. An empty part
    /// means "any" in the first pair and "unchanged" in the second pair. The address of the second host is checked.
    package var connectTo: [String] = []

    /// A PEM file with the certificate authorities that may sign the certificates of servers and of the proxy; nil: the
    /// authorities of the system.
    package var authorities: String?
    /// The proxy for all requests; nil: none. With a proxy, this process looks up no host names of URLs, and checks
    /// only the address of the proxy and the addresses in URLs.
    package var proxy: ProxyServer?

    package init() {}

    var addressPolicy: AddressPolicy {
        allowPrivate ? .everything : AddressPolicy.publicInternet(and: allowedNetworks)
    }

    var hostRules: HostRules {
        HostRules(allowed: allowedHosts, denied: deniedHosts, literals: proxy == nil ? nil : addressPolicy)
    }

    /// The reason why the certificates of a file for ``authorities`` cannot be used; nil if they can be used.
    package static func problem(ofAuthorities file: String) -> String? { CertificateAuthorities.problem(of: file) }

    /// The reason why the address of the proxy is not allowed; nil if the address is allowed, or if the host of the
    /// proxy is a name.
    package var problemOfProxy: String? {
        guard let address = proxy?.address, !addressPolicy.allows(address) else { return nil }
        return TransferError.denied(address.description).detail
    }

    /// The interval between checks for stalled attempts and hanging reads.
    var sweepInterval: Duration { max(.milliseconds(10), min(.seconds(1), stallTimeout / 8, minRateSpan / 8)) }
}
