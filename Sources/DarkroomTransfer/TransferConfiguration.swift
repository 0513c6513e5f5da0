/// What an engine may fetch, and how patiently.
package struct TransferConfiguration: Sendable {
    /// Transfers from one host at a time, the others wait; `nil` is no limit. A redirected transfer counts at the host of its URL.
    package var perHost: Int? = 6
    /// How many transfers of a priority and of all higher ones run at once; `nil` is no limit. Transfers that wait for a host
    /// or for another attempt do not count.
    package var maxRunning: Int?
    /// From the name lookup to the finished handshake, for each attempt.
    package var connectTimeout: Duration = .seconds(10)
    /// How long a connected server may be silent.
    package var stallTimeout: Duration = .seconds(30)
    /// The least that must come from a connected server, in bytes a second, averaged over `minRateSpan` after the first such
    /// span; 0 is no least.
    package var minBytesPerSecond = 1 << 10
    /// Over how long the rate is averaged.
    package var minRateSpan: Duration = .seconds(30)
    /// For each attempt as a whole, waiting for a place at the host not counted; `nil` is no limit.
    package var timeout: Duration? = .seconds(300)
    /// The largest body taken, in bytes.
    package var maxBytes = 64 << 20
    /// Redirects followed in one attempt.
    package var maxRedirects = 5
    /// Further attempts after a fault that may pass.
    package var retries = 3
    /// Lines such as `Accept: image/*`, sent with every request to their hosts.
    ///
    /// A header for the hosts of a pattern goes to those only, also after a redirect, and not on from `https:` to `http:`. Of the
    /// others only `Accept...:`, `User-Agent:`, `Cache-Control:` and `DNT:` are sent after a redirect to another scheme, host
    /// or port, as they may be secrets.
    package var headers: [RequestHeader] = []
    /// Sent as `User-Agent`.
    package var userAgent = "darkroom"
    /// Whether loopback, private, link-local and other addresses that are not of the public internet may be dialled.
    package var allowPrivate = false
    /// Whether the URL itself may lie at any address, because a user has named just this one. A redirect may lead on from one
    /// that is not of the public internet, but from the public internet to no other.
    package var mayStartAnywhere = false
    /// Networks that may be dialled although they are not of the public internet.
    package var allowedNetworks: [NetworkRange] = []
    /// The hosts that may be asked, redirects included; none is all.
    package var allowedHosts: [HostPattern] = []
    /// Hosts that must not be asked, whatever `allowedHosts` says.
    package var deniedHosts: [HostPattern] = []
    /// Folders below which `file:` URLs are read, links resolved; none by default.
    package var fileFolders: [String] = []
    /// `HOST:PORT:HOST:PORT`: requests to the first pair go to the second instead; an empty part stands for any, or for "as it is".
    /// The address dialled is checked as any other.
    package var connectTo: [String] = []

    /// The defaults.
    package init() {}
}
