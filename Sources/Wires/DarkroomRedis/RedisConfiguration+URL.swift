import DarkroomFiles
import Foundation

extension RedisConfiguration {
    /// Creates a configuration from a URL. `RedisLocation` lists the forms of URLs.
    /// - Parameter password: The password if the URL has none.
    package init(url: String, password: String? = nil) throws(RedisError) {
        // The URL may contain a password, so no message shows the whole URL.
        func invalid(_ found: String) -> RedisError {
            RedisError(
                .invalidAddress, "read the address of Redis",
                "\(found); it must look like redis://[user:password@]host[:port][/database], rediss://... for TLS,"
                    + " redis+sentinel://host:port,host:port/service, or unix:///path/of/socket, with user and password"
                    + " percent-encoded (given: \"\(Self.redacted(url))\")")
        }
        let (withoutHosts, hosts) = Self.splitHosts(url)
        guard let parts = URLComponents(string: withoutHosts), let scheme = parts.scheme?.lowercased() else {
            throw invalid("it is not a URL")
        }
        let schemes = ["redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel"]
        guard schemes.contains(scheme) else { throw invalid("found the scheme \"\(scheme)\"") }
        let isSentinel = scheme.hasSuffix("+sentinel")
        guard parts.fragment == nil, isSentinel || parts.query == nil else { throw invalid("found a \"?\" or \"#\"") }

        if scheme == "unix" {
            guard hosts.isEmpty, Path.isAbsolute(parts.path), parts.path.utf8.count > 1 else {
                throw invalid("found no absolute path after unix://")
            }
            self.init(address: .unix(path: parts.path))
        } else {
            var endpoints: [Endpoint] = []
            for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
                do {
                    endpoints.append(try Endpoint(String(host), defaultPort: isSentinel ? 26379 : 6379))
                } catch {
                    throw invalid(error.found)
                }
            }
            guard let first = endpoints.first else { throw invalid("found no host") }
            var path = parts.path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
            if isSentinel {
                guard !path.isEmpty else { throw invalid("found no service name after the sentinels") }
                self.init(address: .sentinels(endpoints, service: path.removeFirst()))
            } else {
                guard endpoints.count == 1 else { throw invalid("found several hosts, which only sentinels may have") }
                self.init(address: .tcp(host: first.host, port: first.port))
            }
            let name = path.joined(separator: "/")
            guard let database = name.isEmpty ? 0 : Int(name), database >= 0 else {
                throw invalid("found the database \"\(name)\", which is not a number")
            }
            self.database = database
            tls = scheme.hasPrefix("rediss") ? TLS() : nil
        }
        for item in parts.queryItems ?? [] {
            switch item.name {
            case "sentinel-user": sentinelUser = item.value
            case "sentinel-password": sentinelPassword = item.value
            default: throw invalid("found \"?\(item.name)\", which is not supported")
            }
        }
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        self.password = parts.password ?? password
        if user != nil && self.password == nil { throw invalid("found a user without a password") }
        if sentinelUser != nil && sentinelPassword == nil { throw invalid("found a sentinel-user without a password") }
    }

    /// A URL for error messages, with passwords and the query replaced by `***`. The text need not be a valid URL.
    package static func redacted(_ url: String) -> String {
        // The search compares bytes, because a delimiter followed by a combining accent is a different `Character`.
        let start = authorityStart(url) ?? url.startIndex
        var rest = url.utf8[start...]
        var query = ""
        if let mark = rest.firstIndex(of: Mark.question) {
            // A "?" before the "@" and before the first "/" is part of the password.
            let before = rest[..<mark]
            if before.contains(Mark.at) || before.contains(Mark.slash) || !rest.contains(Mark.at) {
                query = "?***"
                rest = before
            }
        }
        let shown: String
        if let at = rest.lastIndex(of: Mark.at) {
            // Text without a colon is hidden, because it may be a password before which the colon was forgotten.
            let user = rest[..<at].firstIndex(of: Mark.colon).map { Substring(rest[...$0]) } ?? ""
            shown = "\(user)***\(Substring(rest[at...]))"
        } else if let colon = rest.firstIndex(of: Mark.colon), rest.first != Mark.bracket, !hasOnlyPorts(rest) {
            // Text in the position of a port is hidden, because it may be a password after which the host was
            // forgotten.
            shown = "\(Substring(rest[...colon]))***"
        } else {
            shown = String(Substring(rest))
        }
        return "\(url[..<start])\(shown)\(query)"
    }

    private enum Mark {
        static let colon = UInt8(ascii: ":")
        static let slash = UInt8(ascii: "/")
        static let question = UInt8(ascii: "?")
        static let at = UInt8(ascii: "@")
        static let bracket = UInt8(ascii: "[")
        static let comma = UInt8(ascii: ",")
    }

    /// Whether each colon in a list of hosts is followed by a port number.
    private static func hasOnlyPorts(_ rest: Substring.UTF8View) -> Bool {
        rest.prefix { $0 != Mark.slash }.split(separator: Mark.comma).allSatisfy { host in
            guard let colon = host.firstIndex(of: Mark.colon) else { return true }
            return host[colon...].dropFirst().allSatisfy { (48...57).contains($0) }
        }
    }

    /// The index after the first `://`; nil if the text does not contain `://`.
    private static func authorityStart(_ url: String) -> String.Index? {
        var rest = url.utf8[...]
        while let colon = rest.firstIndex(of: Mark.colon) {
            rest = rest[colon...]
            if rest.starts(with: "://".utf8) { return rest.index(colon, offsetBy: 3) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Replaces the list of hosts by the word `host`, because `URLComponents` does not support lists of hosts. Returns
    /// the new URL and the list.
    private static func splitHosts(_ url: String) -> (rest: String, hosts: Substring) {
        guard let start = authorityStart(url) else { return (url, "") }
        let authority = url.utf8[start...].prefix { !"/?#".utf8.contains($0) }
        let hostsStart = authority.lastIndex(of: Mark.at).map(authority.index(after:)) ?? start
        let hosts = url[hostsStart..<authority.endIndex]
        guard !hosts.isEmpty else { return (url, "") }
        return (url[..<hostsStart] + "host" + url[authority.endIndex...], hosts)
    }
}

extension RedisConfiguration.Endpoint {
    struct Invalid: Error {
        let found: String
    }

    /// Reads `host`, `host:port`, `[::1]:port`.
    fileprivate init(_ text: String, defaultPort: Int) throws(Invalid) {
        guard let parts = URLComponents(string: "redis://" + text), parts.user == nil, parts.path.isEmpty else {
            throw Invalid(found: "it is not a URL")
        }
        let host = (parts.host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard !host.isEmpty else { throw Invalid(found: "found no host") }
        let port = parts.port ?? defaultPort
        guard (1...65_535).contains(port) else { throw Invalid(found: "found the port \(port)") }
        self.init(host: host, port: port)
    }

    /// Reads the target of a MOVED reply: `10.0.0.1:6379`, `::1:6379`, or `:6379` (the host that sent the reply).
    init?(redirection text: Substring, from current: Self) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        let host = text[..<colon]
        self.init(host: host.isEmpty || host == "?" ? current.host : String(host), port: port)
    }
}
