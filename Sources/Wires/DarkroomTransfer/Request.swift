/// The next request of a transfer: the first request, or a request to which a redirect leads.
struct Request: Sendable {
    private(set) var hop: Redirects.Hop
    private var redirects: Redirects
    /// The host and the port to which the request goes.
    private(set) var target: (host: String, port: Int)
    /// The host and port to which the connection is made: the proxy if there is one, otherwise the target.
    var dialled: (host: String, port: Int) { proxy ?? target }
    private let proxy: (host: String, port: Int)?
    /// The earlier requests of the same attempt.
    private(set) var way: [RequestStop] = []
    /// Whether a request in ``way`` went to an address of the public internet.
    private(set) var hasBeenPublic = false
    /// The cookies that the responses to the requests in ``way`` have set, see ``EasyHandle/cookies``. A further
    /// attempt after a failure begins without cookies.
    private(set) var cookies: [String] = []
    /// The duration of the requests in ``way``, including attempts of this request that were ended for lack of memory.
    var spent = Duration.zero

    /// The first request of a transfer.
    init(url: String, host: String, _ settings: Settings) {
        hop = Redirects.Hop(url: url, host: host)
        redirects = Redirects(from: url, limit: settings.maxRedirects, rules: settings.hosts)
        target = settings.target(of: hop)
        proxy = settings.proxy.map { ($0.host, $0.port) }
    }

    /// The host name whose addresses the request needs; nil if the request connects to an address.
    var name: String? {
        dialled.host.hasPrefix("[") || IPAddress(dialled.host) != nil ? nil : dialled.host
    }

    /// The request to which the redirect to `location` leads. `way` contains the requests before the redirect.
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
            // `TransferURL` has parsed this URL before, so parsing can fail only for lack of memory. In this case, no
            // rule for a port applies, and libcurl reports the lack of memory.
            let port = (try? ParsedURL(hop.url))?.origin?.port ?? 0
            return connectRules.lazy.compactMap { $0.target(hop.host, port) }.first ?? (hop.host, port)
        }
    }
}
