import DarkroomCoding
import DarkroomHTTP
import DarkroomText

/// The clients that may use the server.
package enum AccessRule: Sendable {
    /// Every program of this machine. Only for servers on a loopback address.
    case everybody
    /// Clients with this token, in a cookie or in `Authorization: Bearer`.
    case token(String)
    /// Clients for which an authenticating proxy sets this header field. Only requests from one of these IP addresses
    /// count, because other clients can set the field themselves.
    case header(String, from: Set<String>)

    /// The minimum number of characters of a token.
    package static let leastTokenLength = 16

    /// A new token of 128 random bits.
    package static func newToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &generator) })
    }
}

/// Decides about each request, before its body is read.
struct AccessControl: Sendable {
    enum Decision: Equatable {
        case allowed
        /// The client must log in.
        case unknownClient
        /// The request is refused; the text is the reason.
        case refused(String)
    }

    private let rule: AccessRule
    /// The token with which programs read the metrics and nothing else; nil if there is none.
    private let metricsToken: String?
    /// The value of the session cookie.
    private let session: String
    /// The host names by which clients may call the server, in lower case and without a port.
    private let hosts: Set<String>
    /// Whether the server itself encrypts its connections.
    private let hasTLS: Bool

    /// - Parameter hosts: host names in addition to the loopback names and the listening address.
    init(_ rule: AccessRule, metricsToken: String? = nil, address: ListenAddress, hosts: [String], hasTLS: Bool) {
        self.hasTLS = hasTLS
        self.metricsToken = metricsToken
        self.hosts = Set(
            ["localhost", "127.0.0.1", "[::1]", HostHeader(address.description).name] + hosts.map { $0.lowercased() })
        session = if case .token(let token) = rule { Self.session(of: token) } else { "" }
        self.rule =
            if case .header(let name, let proxies) = rule {
                .header(name.lowercased(), from: Set(proxies.map { IPAddress.canonical($0) ?? $0 }))
            } else {
                rule
            }
    }

    /// The name of the session cookie. Browsers send a cookie to all ports of a host, so servers on different ports
    /// need different cookie names.
    func cookie(of request: HTTPRequest) -> String {
        // The port comes from the client, and some characters are not allowed in the name of a cookie.
        let port = UInt16(HostHeader(request.headers["host"] ?? "").port)
        return "darkroom-session" + (port.map { "-\($0)" } ?? "")
    }

    /// Whether the browser reaches the server, or the proxy before it, over TLS.
    func isEncrypted(_ request: HTTPRequest) -> Bool {
        hasTLS || request.headers["x-forwarded-proto"]?.lowercased() == "https"
    }

    /// Whether browsers may be told to use this host over TLS only. A proxy decides this itself. On a loopback name,
    /// other servers of the user may listen on other ports without TLS.
    func mayRequireTLS(_ request: HTTPRequest) -> Bool {
        let name = HostHeader(request.headers["host"] ?? "").name
        return hasTLS && name != "localhost" && !name.hasSuffix(".localhost")
    }

    /// Whether clients log in with a token.
    var hasToken: Bool { if case .token = rule { true } else { false } }

    /// Whether a token is the token of this server.
    func accepts(token: String) -> Bool {
        guard case .token(let own) = rule else { return false }
        return Self.areEqual(token, own)
    }

    /// The value of the cookie for clients that have logged in. A restart with the same token does not change the
    /// value.
    var sessionCookie: String { session }

    /// Whether a request has the token for the metrics.
    func mayReadMetrics(_ request: HTTPRequest) -> Bool {
        guard let metricsToken, let given = Self.bearer(request) else { return false }
        return Self.areEqual(given, metricsToken)
    }

    /// The user who makes an allowed request, as far as the user is known.
    func user(of request: HTTPRequest) -> String {
        switch rule {
        case .everybody: "anybody"
        case .token: "holder of the token"
        case .header(let name, _): request.headers[name] ?? ""
        }
    }

    func decision(on request: HTTPRequest) -> Decision {
        guard let host = request.headers["host"].map(HostHeader.init) else {
            return .refused("the Host field is missing")
        }
        guard isKnown(host) else {
            return .refused("this server is not \(host.name); it was not started with this name")
        }
        guard isFromThisSite(request, host) else { return .refused("the request comes from another web site") }
        return client(of: request)
    }

    /// Another web site can make its own host name point to this machine (DNS rebinding). In this case browsers send
    /// the host name of that site, and the pages of the site may read all responses. Such a request has no token, but
    /// it needs none if the server trusts the machine, or header fields, which scripts can set.
    private func isKnown(_ host: HostHeader) -> Bool {
        switch rule {
        case .token: true
        case .everybody, .header: hosts.contains(host.name)
        }
    }

    /// Whether a page of this server, or a program other than a browser, has made the request.
    private func isFromThisSite(_ request: HTTPRequest, _ host: HostHeader) -> Bool {
        // https://www.w3.org/TR/fetch-metadata/
        let site = request.headers["sec-fetch-site"] ?? "same-origin"
        guard !request.method.isSafe else {
            // The user may follow a link of another site; that site must not use this server in its pages.
            return ["same-origin", "none"].contains(site) || request.headers["sec-fetch-mode"] == "navigate"
        }
        guard site == "same-origin" else { return false }
        guard let origin = request.headers["origin"] else { return true }
        // An http: page with the same host name may come from an attacker in the network.
        guard !isEncrypted(request) || origin.lowercased().hasPrefix("https:") else { return false }
        return HostHeader(origin: origin) == host
    }

    private func client(of request: HTTPRequest) -> Decision {
        switch rule {
        case .everybody: return .allowed
        case .token(let token):
            if let given = Self.bearer(request) { return Self.areEqual(given, token) ? .allowed : .unknownClient }
            return Self.areEqual(request.cookie(cookie(of: request)) ?? "", session) ? .allowed : .unknownClient
        case .header(let name, let proxies):
            guard proxies.contains(request.client) else { return .refused("the request does not come from the proxy") }
            // One of the fields may come from the client of the proxy.
            guard !request.repeatedHeaders.contains(name) else { return .refused("the field \(name) is repeated") }
            return request.headers[name]?.isEmpty == false ? .allowed : .unknownClient
        }
    }

    /// The token in `Authorization: Bearer`, possibly empty; nil for other schemes, which are for a proxy.
    private static func bearer(_ request: HTTPRequest) -> String? {
        let parts = (request.headers["authorization"] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return nil }
        return parts.count == 2 ? String(parts[1]) : ""
    }

    private static func session(of token: String) -> String {
        Hexadecimal.text(HMACSHA256.code(of: Array("darkroom session".utf8), secret: Array(token.utf8)))
    }

    /// Compares texts in a time that depends only on the length of `own`.
    private static func areEqual(_ given: String, _ own: String) -> Bool {
        let given = Array(given.utf8), own = Array(own.utf8)
        var difference: UInt8 = given.count == own.count ? 0 : 1
        for (position, byte) in own.enumerated() {
            difference |= byte ^ (given.isEmpty ? 0 : given[position % given.count])
        }
        return difference == 0
    }
}

/// The name and port of a server in a `Host` or `Origin` field.
struct HostHeader: Equatable {
    /// In lower case.
    let name: String
    /// Empty for the standard port.
    let port: String

    /// Parses the value of `Host`: `example.com:8080`.
    init(_ text: String) {
        let text = text.lowercased()
        if let end = text.lastIndex(of: "]") {
            name = String(text[...end])
            port = String(text[text.index(after: end)...].drop { $0 == ":" })
        } else if let colon = text.lastIndex(of: ":") {
            name = String(text[..<colon])
            port = String(text[text.index(after: colon)...])
        } else {
            name = text
            port = ""
        }
    }

    /// Parses the value of `Origin`: `https://example.com`. Returns nil for `null` and for schemes other than HTTP.
    init?(origin: String) {
        guard let (_, server) = URLScheme.web(origin[...]) else { return nil }
        self.init(String(server))
    }
}
