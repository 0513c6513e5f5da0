import DarkroomTransfer

/// The hosts and folders from which a worker may download photos, and its timeouts.
public struct DownloadRules: Sendable {
    /// The most concurrent connections to one host.
    public var connectionsPerHost = 6
    /// The timeout of a connection attempt, from the name lookup to the finished handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// The timeout for a connected server that sends nothing.
    public var stallTimeout: Duration = .seconds(30)
    /// The timeout of a whole attempt.
    public var timeout: Duration = .seconds(300)
    /// The least rate of a server in bytes per second, averaged over 30 seconds after the first 30 seconds; 0 for no limit.
    public var minBytesPerSecond = 1 << 10
    /// The largest download in bytes.
    public var maxBytes = 64 << 20
    /// The most redirects of one attempt.
    public var maxRedirects = 5
    /// The number of further attempts after a temporary failure.
    public var retries = 3
    /// Headers of requests: `Accept: image/*` for all hosts, `photos.example=Authorization: Bearer ...` for one host over https.
    /// `HOST:PORT=` is for another port, `http://HOST=` also for http, `*.DOMAIN=` for all hosts below the domain.
    public var headers: [String] = []
    /// The `User-Agent` header.
    public var userAgent = "darkroom/\(darkroomVersion)"
    /// Allows loopback, private, link-local and all other addresses outside the public internet.
    public var allowsPrivateAddresses = false
    /// Allowed networks outside the public internet: `10.1.0.0/16`, `fd00::/8`.
    public var allowedNetworks: [String] = []
    /// The allowed hosts, also for redirects: `photos.example`, `*.example.org`; empty allows all.
    public var allowedHosts: [String] = []
    /// Hosts that are never allowed, in the same form.
    public var deniedHosts: [String] = []
    /// Existing folders below which `file:` URLs may be read, after links are resolved; absolute paths.
    public var folders: [String] = []

    /// The default rules, which allow only the public internet.
    public init() {}

    /// - Throws: an error that describes the header, network or host that is invalid.
    func transferConfiguration() throws -> TransferConfiguration {
        var transfer = TransferConfiguration()
        transfer.perHost = connectionsPerHost
        transfer.connectTimeout = connectTimeout
        transfer.stallTimeout = stallTimeout
        transfer.timeout = timeout
        transfer.minBytesPerSecond = minBytesPerSecond
        transfer.maxBytes = maxBytes
        transfer.maxRedirects = maxRedirects
        transfer.retries = retries
        transfer.headers = try headers.map { try RequestHeader(parsing: $0) }
        transfer.userAgent = userAgent
        transfer.allowPrivate = allowsPrivateAddresses
        transfer.allowedNetworks = try allowedNetworks.map { try NetworkRange(parsing: $0) }
        transfer.allowedHosts = try allowedHosts.map { try HostPattern(parsing: $0) }
        transfer.deniedHosts = try deniedHosts.map { try HostPattern(parsing: $0) }
        transfer.fileFolders = folders
        return transfer
    }
}
