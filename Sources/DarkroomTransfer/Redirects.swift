internal import CCurl

/// The way of one attempt over redirects.
///
/// libcurl could follow them by itself, but would ask nobody about the hosts, and would send on all of
/// `TransferConfiguration.headers`, whatever their hosts, but `Authorization:` and `Cookie:`. A plain value: no server needed to test it.
struct Redirects {
    /// One request on the way.
    struct Hop: Equatable {
        /// Where it goes, with user and password where they may be sent.
        let url: String
        /// In its canonical form.
        let host: String
        /// Whether it goes to the scheme, host and port of the first request.
        var isAtHome = true
        /// Whether the first request was encrypted and this one is not.
        var isExposed = false

        /// Whether a header goes with it.
        func takes(_ header: RequestHeader) -> Bool {
            guard let hosts = header.hosts else { return header.isForEverybody || isAtHome }
            // A URL that cannot be parsed gets no header of a host.
            guard hosts.matches(host), !isExposed, let origin = try? ParsedURL(url).origin else { return false }
            return header.goes(to: origin)
        }
    }

    private let rules: HostRules
    private let limit: Int
    private let start: String
    private var count = 0

    /// A way that begins at the URL `start` and has at most `limit` redirects.
    init(from start: String, limit: Int, rules: HostRules) {
        self.start = start
        self.limit = limit
        self.rules = rules
    }

    /// The request that a redirect to `location`, an absolute URL, asks for.
    ///
    /// What was meant for the first URL's scheme, host and port is sent there only; user and password that the location itself
    /// names are sent to it.
    mutating func follow(_ location: String) throws(Refusal) -> Hop {
        count += 1
        guard count <= limit else {
            throw Refusal(code: .tooManyRedirects, detail: "more than \(limit) redirects")
        }
        guard case .web(let url, let host) = try TransferURL(parsing: location) else {
            throw Refusal(code: .schemeDenied, detail: "a redirect to a file: URL is not followed")
        }
        try rules.check(host)
        let parsed = try ParsedURL(url), first = try ParsedURL(start)
        guard let home = first.origin, parsed.origin == home else {
            let isExposed = first[CURLUPART_SCHEME] == "https" && parsed[CURLUPART_SCHEME] != "https"
            return Hop(url: url, host: host, isAtHome: false, isExposed: isExposed)
        }
        if parsed[CURLUPART_USER] == nil, parsed[CURLUPART_PASSWORD] == nil {
            parsed.set(CURLUPART_USER, first[CURLUPART_USER])
            parsed.set(CURLUPART_PASSWORD, first[CURLUPART_PASSWORD])
        }
        return Hop(url: parsed[CURLUPART_URL] ?? url, host: host)
    }
}
