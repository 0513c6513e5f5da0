import DarkroomModel
import DarkroomText
import DarkroomTransfer

/// The hosts and folders from which a worker may download photos, and the limits of a download.
public struct DownloadRules: Sendable {
    /// The maximum number of concurrent requests to one host. If nil, the worker learns the number for each host: the
    /// number begins at 4, and grows to at most 32, or 100 with HTTP/2, while the host answers as fast as before.
    public var connectionsPerHost: Int?
    /// Whether HTTP/2 is used with servers that offer it.
    public var usesHTTP2 = true
    /// The maximum number of requests per second to one host; nil for no limit, unless the host refuses requests.
    public var requestsPerSecond: Double?
    /// The maximum number of requests per second to all hosts together; nil for no limit.
    public var totalRequestsPerSecond: Double?
    /// How long a host may be silent or refuse all requests before its photos fail.
    public var patience: Duration = .seconds(60)
    /// The timeout for establishing a connection, from the name lookup to the end of the TLS handshake.
    public var connectTimeout: Duration = .seconds(10)
    /// The longest time without data from a connected server.
    public var stallTimeout: Duration = .seconds(30)
    /// The timeout of a whole download attempt.
    public var timeout: Duration = .seconds(300)
    /// The minimum transfer rate in bytes per second, averaged over 10 seconds; 0 for no minimum. The first 10 seconds
    /// are not checked. While many servers send slowly, no minimum is required.
    public var minBytesPerSecond = 4 << 10
    /// The maximum size of a download in bytes.
    public var maxBytes = 64 << 20
    /// The maximum number of redirects in one download attempt.
    public var maxRedirects = 5
    /// The maximum number of retries of a photo after temporary failures. Retries because the host refused requests or
    /// was silent are not counted.
    public var retries = 100
    /// A retry may begin only within this time after the first temporary failure that ``retries`` counts.
    public var retryTime: Duration = .seconds(90)
    /// Request headers. `Accept: image/*` is sent to all hosts, `photos.example=Authorization: Bearer ...` only to this
    /// host and only over https. Other prefixes: `HOST:PORT=` for another port, `http://HOST=` also for http,
    /// `*.DOMAIN=` for all hosts of a domain.
    public var headers: [String] = []
    /// The `User-Agent` header.
    public var userAgent = "darkroom/\(darkroomVersion)"
    /// Whether a photo fails if its server sends `X-Robots-Tag` with `noai`, `noimageai`, `noindex` or `noimageindex`, or
    /// `TDM-Reservation: 1`.
    public var skipsOptedOut = false
    /// Whether loopback, private, link-local and all other addresses outside the public internet are allowed.
    public var allowsPrivateAddresses = false
    /// The allowed networks outside the public internet, for example `10.1.0.0/16` or `fd00::/8`.
    public var allowedNetworks: [String] = []
    /// The hosts that URLs and redirects may lead to, for example `photos.example` or `*.example.org`. Empty allows all
    /// hosts.
    public var allowedHosts: [String] = []
    /// The hosts that are never allowed, in the format of ``allowedHosts``.
    public var deniedHosts: [String] = []
    /// The absolute paths of existing folders. A `file:` URL may be read if its path, after links are resolved, is in
    /// one of these folders.
    public var folders: [String] = []

    /// A PEM file with the certificate authorities for https; nil for those of the system.
    public var certificateAuthorities: String?
    /// The proxy for all downloads, for example `socks5h://user:password@proxy.example:1080`; nil for none. The schemes
    /// are http, https and socks5h. The proxy looks up the host names. These rules must allow the proxy's address.
    public var proxy: String?

    /// The name servers, as addresses with optional ports; empty: those of the system.
    package var nameServers: [String] = []
    /// See ``TransferConfiguration/connectTo``.
    package var connectTo: [String] = []

    /// Creates the default rules, which allow only the public internet.
    public init() {}

    private static let settings = SettingCheck(prefix: "downloadRules.")

    /// Checks all rules.
    /// - Throws: ``InvalidSetting`` for the first rule that is not allowed.
    func check() throws(InvalidSetting) {
        let (check, year) = (Self.settings, SettingCheck.year)
        try check.number("connectionsPerHost", connectionsPerHost, in: 1...10_000, SettingNumber.count)
        try check.number("requestsPerSecond", requestsPerSecond, in: 0.001...10_000, SettingNumber.perSecond)
        try check.number("totalRequestsPerSecond", totalRequestsPerSecond, in: 0.001...10_000, SettingNumber.perSecond)
        try check.number("patience", patience, in: .zero...year, SettingNumber.duration)
        try check.number("connectTimeout", connectTimeout, in: .milliseconds(1)...year, SettingNumber.duration)
        try check.number("stallTimeout", stallTimeout, in: .milliseconds(1)...year, SettingNumber.duration)
        try check.number("timeout", timeout, in: .milliseconds(1)...year, SettingNumber.duration)
        try check.number("minBytesPerSecond", minBytesPerSecond, in: 0...1 << 40, SettingNumber.bytes)
        try check.number("maxBytes", maxBytes, in: 1...1 << 40, SettingNumber.bytes)
        try check.number("maxRedirects", maxRedirects, in: 0...10_000, SettingNumber.count)
        try check.number("retries", retries, in: 0...10_000, SettingNumber.count)
        try check.number("retryTime", retryTime, in: .zero...year, SettingNumber.duration)
        try check.folders("folders", folders)
        _ = try transferConfiguration()
    }

    /// The configuration of the transfer engine.
    /// - Parameter engine: the settings that these rules do not have.
    /// - Throws: ``InvalidSetting`` for the first text that is invalid.
    package func transferConfiguration(
        _ engine: TransferConfiguration = TransferConfiguration()
    ) throws(InvalidSetting) -> TransferConfiguration {
        var transfer = engine
        transfer.perHost = connectionsPerHost
        transfer.usesHTTP2 = usesHTTP2
        transfer.rate = requestsPerSecond
        transfer.totalRate = totalRequestsPerSecond
        transfer.patience = patience
        transfer.retryTime = retryTime
        transfer.connectTimeout = connectTimeout
        transfer.stallTimeout = stallTimeout
        transfer.timeout = timeout
        transfer.minBytesPerSecond = minBytesPerSecond
        transfer.maxBytes = maxBytes
        transfer.maxRedirects = maxRedirects
        transfer.retries = retries
        transfer.headers = try parsedHeaders
        transfer.userAgent = userAgent
        transfer.skipsOptedOut = skipsOptedOut
        transfer.allowPrivate = allowsPrivateAddresses
        let settings = Self.settings
        transfer.allowedNetworks = try settings.parsed(
            "allowedNetworks", allowedNetworks, NetworkRange.init(parsing:), \.problem)
        transfer.allowedHosts = try settings.parsed(
            "allowedHosts", allowedHosts, HostPattern.init(parsing:), \.problem)
        transfer.deniedHosts = try settings.parsed("deniedHosts", deniedHosts, HostPattern.init(parsing:), \.problem)
        transfer.fileFolders = folders
        transfer.nameServers = nameServers.isEmpty ? nil : nameServers.joined(separator: ",")
        transfer.connectTo = connectTo
        transfer.authorities = certificateAuthorities
        transfer.proxy = try parsedProxy
        try checkTexts(transfer)
        return transfer
    }

    private var parsedHeaders: [RequestHeader] {
        get throws(InvalidSetting) {
            var parsed: [RequestHeader] = []
            for header in headers {
                do throws(InvalidRequestHeader) {
                    parsed.append(try RequestHeader(parsing: header))
                } catch {
                    // The value may be a secret.
                    throw Self.settings.invalid("headers", "\"\(error.name)\"", error.problem)
                }
            }
            return parsed
        }
    }

    private var parsedProxy: ProxyServer? {
        get throws(InvalidSetting) {
            guard let proxy else { return nil }
            do throws(InvalidProxy) {
                return try ProxyServer(parsing: proxy)
            } catch {
                throw Self.settings.invalid("proxy", nil, error.problem)  // the URL may contain a password
            }
        }
    }

    private func checkTexts(_ transfer: TransferConfiguration) throws(InvalidSetting) {
        let settings = Self.settings
        if userAgent != PrintableText.escaped(userAgent) {
            throw settings.invalid("userAgent", "\"\(userAgent)\"", "it has invisible characters; leave them out")
        }
        for server in nameServers where !NameServers.isServer(server) {
            throw settings.invalid(
                "nameServers", "\"\(server)\"",
                "write an address, such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]")
        }
        for pairs in connectTo where ConnectRule(pairs) == nil {
            throw settings.invalid(
                "connectTo", "\"\(pairs)\"",
                "write HOST:PORT:HOST:PORT, for example photos.example:80:127.0.0.1:8080")
        }
        if let file = certificateAuthorities, let problem = TransferConfiguration.problem(ofAuthorities: file) {
            throw settings.invalid("certificateAuthorities", file, problem)
        }
        if let proxy = transfer.proxy, let problem = transfer.problemOfProxy {
            throw settings.invalid("proxy", "\(proxy)", problem)
        }
    }
}
