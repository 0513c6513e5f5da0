/// The rules, limits and timeouts of a transfer engine.
package struct TransferConfiguration: Sendable {
    /// The largest number of concurrent transfers from one host; `nil` means no limit. After a redirect, a transfer
    /// still counts for the host of its original URL.
    package var perHost: Int? = 6
    /// For each priority, the largest number of concurrent transfers of this priority and higher priorities; `nil`
    /// means no limit. Transfers that wait for a host or for their next attempt do not count.
    package var maxRunning: Int?
    /// The time limit of each attempt from the name lookup to the end of the handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// If a connected server sends nothing for this long, the attempt ends.
    package var stallTimeout: Duration = .seconds(30)
    /// The lowest accepted rate of a connected server in bytes per second, averaged over `minRateSpan`. The first
    /// period is not checked. 0 means no limit.
    package var minBytesPerSecond = 1 << 10
    package var minRateSpan: Duration = .seconds(30)
    /// The time limit of each attempt as a whole, without the wait for a slot of the host; `nil` means no limit.
    package var timeout: Duration? = .seconds(300)
    /// The largest accepted body, in bytes.
    package var maxBytes = 64 << 20
    /// The largest number of redirects in one attempt.
    package var maxRedirects = 5
    /// The largest number of further attempts after temporary failures.
    package var retries = 3
    /// Header lines such as `Accept: image/*`, which are sent with every request to their hosts.
    ///
    /// A header with a host pattern is sent only to matching hosts, also after redirects, and never after a redirect
    /// from `https:` to `http:`. A header without a pattern may be a secret, so after a redirect to another scheme,
    /// host or port only `Accept...:`, `User-Agent:`, `Cache-Control:` and `DNT:` are sent.
    package var headers: [RequestHeader] = []
    package var userAgent = "darkroom"
    /// Whether connections to loopback, private, link-local and other non-public addresses are allowed.
    package var allowPrivate = false
    /// Whether the host of the URL itself may have any address. True for URLs that a user has entered. A redirect from
    /// a non-public address may lead to any address. A redirect from a public address must lead to a public address.
    package var mayStartAnywhere = false
    /// Non-public networks to which connections are allowed.
    package var allowedNetworks: [NetworkRange] = []
    /// The hosts to which requests are allowed, including requests after redirects; empty allows all hosts.
    package var allowedHosts: [HostPattern] = []
    /// The hosts to which requests are denied, even if they match `allowedHosts`.
    package var deniedHosts: [HostPattern] = []
    /// The folders whose files may be read by `file:` URLs. Links are resolved before the check. None by default.
    package var fileFolders: [String] = []
    /// `HOST:PORT:HOST:PORT`: requests to the first host and port are sent to the second host and port. An empty part
    /// means "any" in the first pair and "unchanged" in the second pair. The address of the second host is checked.
    package var connectTo: [String] = []

    /// A PEM file with the certificate authorities that may sign the certificates of servers; nil: those of the system.
    var authorities: String?

    package init() {}

    /// How often stalled attempts and hanging reads are looked for.
    var sweepInterval: Duration { max(.milliseconds(10), min(.seconds(1), stallTimeout / 8, minRateSpan / 8)) }
}
