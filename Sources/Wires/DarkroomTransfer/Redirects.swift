internal import CCurl
import DarkroomText

/// The redirects of one attempt.
///
/// libcurl could follow redirects itself, but it would not check the hosts. It would also send all lines of
/// `TransferConfiguration.headers` except `Authorization:` and `Cookie:` to every host. A plain value, so that tests
/// need no server.
struct Redirects {
    struct Hop: Equatable {
        /// The URL, including user and password if they may be sent.
        let url: String
        /// The host in its canonical form.
        let host: String
        /// Whether this request has the same scheme, host and port as the first request.
        var isAtHome = true
        /// Whether the first request was encrypted and this request is not.
        var isExposed = false

        func takes(_ header: RequestHeader) -> Bool {
            guard let hosts = header.hosts else { return header.isForEverybody || isAtHome }
            // A header with a host pattern is not sent if the URL cannot be parsed.
            guard hosts.matches(host), !isExposed, let origin = try? ParsedURL(url).origin else { return false }
            return header.goes(to: origin)
        }
    }

    private let rules: HostRules
    private let limit: Int
    private let start: String
    private var count = 0

    /// Creates the state of an attempt that starts at the URL `start` and follows at most `limit` redirects.
    init(from start: String, limit: Int, rules: HostRules) {
        self.start = start
        self.limit = limit
        self.rules = rules
    }

    /// Returns the request for a redirect to `location`, an absolute URL.
    ///
    /// Credentials and headers that belong to the origin of the first URL are not sent to other origins. If `location`
    /// contains a user and a password, these are sent to the host of `location`.
    mutating func follow(_ location: String) throws(TransferError) -> Hop {
        count += 1
        guard count <= limit else {
            throw TransferError(code: .tooManyRedirects, detail: "more than \(limit) redirects")
        }
        guard case .web(let url, let host) = try TransferURL(parsing: location) else {
            throw TransferError(code: .schemeDenied, detail: "a redirect to a file: URL is not followed")
        }
        try rules.check(host)
        let parsed = try ParsedURL(url), first = try ParsedURL(start)
        guard let home = first.origin, parsed.origin == home else {
            let isExposed = first.scheme?.isEncrypted == true && parsed.scheme?.isEncrypted != true
            return Hop(url: url, host: host, isAtHome: false, isExposed: isExposed)
        }
        if parsed[CURLUPART_USER] == nil, parsed[CURLUPART_PASSWORD] == nil {
            parsed.set(CURLUPART_USER, first[CURLUPART_USER])
            parsed.set(CURLUPART_PASSWORD, first[CURLUPART_PASSWORD])
        }
        return Hop(url: parsed[CURLUPART_URL] ?? url, host: host)
    }
}
