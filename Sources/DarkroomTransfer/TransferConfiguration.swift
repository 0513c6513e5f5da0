/// The rules, limits and timeouts of a transfer engine.
package struct TransferConfiguration: Sendable {
    /// The most concurrent transfers from one host; `nil`: no limit. A redirected transfer counts for the host of its
    /// original URL.
    package var perHost: Int? = 6
    /// For each priority: the most concurrent transfers of this and all higher priorities; `nil`: no limit. Transfers
    /// that wait for a host or for another attempt do not count.
    package var maxRunning: Int?
    /// The time limit of each attempt from the name lookup to the finished handshake.
    package var connectTimeout: Duration = .seconds(10)
    /// An attempt ends if a connected server sends nothing for this long.
    package var stallTimeout: Duration = .seconds(30)
    /// The lowest accepted rate of a connected server in bytes per second, averaged over `minRateSpan`. The first span
    /// is not checked. 0: no limit.
    package var minBytesPerSecond = 1 << 10
    package var minRateSpan: Duration = .seconds(30)
    /// The time limit of each whole attempt, without the wait for a slot at the host; `nil`: no limit.
    package var timeout: Duration? = .seconds(300)
    /// The largest accepted body, in bytes.
    package var maxBytes = 64 << 20
    /// The most redirects followed in one attempt.
    package var maxRedirects = 5
    /// The most further attempts after temporary faults.
    package var retries = 3
    /// Lines such as `Accept: image/*`, sent with every request to their hosts.
    ///
    /// A header with a host pattern is sent only to matching hosts, also after a redirect, and never after a redirect
    /// from `https:` to `http:`. Headers without a pattern may be secrets: after a redirect to another scheme, host or
    /// port, only `Accept...:`, `User-Agent:`, `Cache-Control:` and `DNT:` are sent.
    package var headers: [RequestHeader] = []
    package var userAgent = "darkroom"
    /// Whether connections to loopback, private, link-local and other non-public addresses are allowed.
    package var allowPrivate = false
    /// Whether the URL itself may be at any address, because a user named this URL. A redirect from a non-public
    /// address may lead to any address; a redirect from a public address may not lead to a non-public one.
    package var mayStartAnywhere = false
    /// Non-public networks to which connections are allowed.
    package var allowedNetworks: [NetworkRange] = []
    /// The hosts to which requests are allowed, redirects included; empty: all hosts.
    package var allowedHosts: [HostPattern] = []
    /// Hosts to which requests are denied. Takes precedence over `allowedHosts`.
    package var deniedHosts: [HostPattern] = []
    /// Folders below which `file:` URLs may be read, after links are resolved; none by default.
    package var fileFolders: [String] = []
    /// `HOST:PORT:HOST:PORT`: requests to the first pair go to the second instead; an empty part means "any" in the
    /// first pair and "unchanged" in the second. The connected address is checked as usual.
    package var connectTo: [String] = []

    package init() {}
}
