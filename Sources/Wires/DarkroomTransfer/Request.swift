/// The next request of a transfer: the first one, or one to which a redirect leads.
struct Request: Sendable {
    private(set) var hop: Redirects.Hop
    private var redirects: Redirects
    /// The host to which the request goes, and the port.
    private(set) var target: (host: String, port: Int)
    /// The host and port of the connection: of the proxy, or else of the target.
    var dialled: (host: String, port: Int) { proxy ?? target }
    private let proxy: (host: String, port: Int)?
    /// The requests that the attempt has sent before.
    private(set) var way: [RequestStop] = []
    /// Whether one of them went to an address of the public internet.
    private(set) var hasBeenPublic = false
    /// The cookies that their responses have set, see ``EasyHandle/cookies``. The attempts after a failure have none.
    private(set) var cookies: [String] = []
    /// How long these requests took, and earlier tries of this request that were ended for lack of room.
    var spent = Duration.zero

    /// The first request of a transfer.
    init(url: String, host: String, _ settings: Settings) {
        hop = Redirects.Hop(url: url, host: host)
        redirects = Redirects(from: url, limit: settings.maxRedirects, rules: settings.hosts)
        target = settings.target(of: hop)
        proxy = settings.proxy.map { ($0.host, $0.port) }
    }

    /// The name whose addresses the request needs; nil if it connects to an address.
    var name: String? {
        dialled.host.hasPrefix("[") || IPAddress(dialled.host) != nil ? nil : dialled.host
    }

    /// The request to which the redirect to `location` leads, after requests that took the `way`.
    func following(
        _ location: [UInt8], way: [RequestStop], hasBeenPublic: Bool, cookies: [String], spent: Duration,
        _ settings: Settings
    ) throws(TransferError) -> Request {
        var next = self
        next.hop = try next.redirects.follow(BrowserURL.resolved(location, against: hop.url))
        next.target = settings.target(of: next.hop)
        next.way = way
        next.hasBeenPublic = hasBeenPublic
        next.cookies = cookies
        next.spent = spent
        return next
    }

    /// The parts of a configuration that decide where requests go.
    struct Settings {
        let hosts: HostRules
        let maxRedirects: Int
        let connectRules: [ConnectRule]
        let proxy: ProxyServer?

        init(_ configuration: TransferConfiguration) {
            hosts = configuration.hostRules
            proxy = configuration.proxy
            maxRedirects = configuration.maxRedirects
            connectRules = configuration.connectTo.compactMap(ConnectRule.init)
        }

        fileprivate func target(of hop: Redirects.Hop) -> (host: String, port: Int) {
            // `TransferURL` has parsed this URL before, so this can fail only without memory. Then no rule for a port applies,
            // and libcurl, which needs memory too, reports the error.
            let port = (try? ParsedURL(hop.url))?.origin?.port ?? 0
            return connectRules.lazy.compactMap { $0.target(hop.host, port) }.first ?? (hop.host, port)
        }
    }
}
