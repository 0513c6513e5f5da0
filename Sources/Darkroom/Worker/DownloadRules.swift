import DarkroomTransfer

/// From where a worker may download photos, and how patiently.
public struct DownloadRules: Sendable {
    /// Connections to one host at a time.
    public var connectionsPerHost = 6
    /// How long a connection attempt may take, from the name lookup to the finished handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a connected server may be silent.
    public var stallTimeout: Duration = .seconds(30)
    /// How long one attempt may take as a whole.
    public var timeout: Duration = .seconds(300)
    /// The least bytes a second that a server must send, averaged over 30 seconds after the first 30 seconds; 0 is no least.
    public var minBytesPerSecond = 1 << 10
    /// The largest download in bytes.
    public var maxBytes = 64 << 20
    /// Redirects that one attempt follows.
    public var maxRedirects = 5
    /// Further attempts after a failure that may pass.
    public var retries = 3
    /// Headers of requests: `Accept: image/*` for all hosts, `photos.example=Authorization: Bearer ...` for one host over https. With
    /// `HOST:PORT=` it is another port, with `http://HOST=` also http, with `*.DOMAIN=` all hosts below it.
    public var headers: [String] = []
    /// What servers are told the client is.
    public var userAgent = "darkroom/\(darkroomVersion)"
    /// Allows loopback, private, link-local and all other addresses that are not of the public internet.
    public var allowsPrivateAddresses = false
    /// Networks that are allowed although they are not of the public internet: `10.1.0.0/16`, `fd00::/8`.
    public var allowedNetworks: [String] = []
    /// The only hosts that are allowed, redirects included: `photos.example`, `*.example.org`; empty allows all.
    public var allowedHosts: [String] = []
    /// Hosts that are never allowed, in the same form.
    public var deniedHosts: [String] = []
    /// Folders below which `file:` URLs may be read, links resolved.
    public var folders: [String] = []

    /// Only the public internet, with the values above.
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
