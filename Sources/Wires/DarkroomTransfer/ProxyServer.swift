internal import CCurl
import DarkroomText

/// A proxy through which all requests of an engine go. The proxy looks up the names of the hosts.
package struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
    package enum Scheme: String, Sendable { case http, https, socks5h }

    package let scheme: Scheme
    /// The host in its canonical form, see ``HostName``.
    package let host: String
    package let port: Int
    let user: String?
    let password: String?

    /// Parses `SCHEME://[USER:PASSWORD@]HOST[:PORT]`. As with curl, the default port is 443 for https and otherwise 1080.
    package init(parsing text: String) throws(InvalidProxy) {
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] }
        // libcurl does not know the default port of socks5h, and a path is a mistake. The error of the URL parser is
        // replaced by an error that describes the form of a proxy and does not contain the password.
        guard let rest, !rest.contains(where: { "?#".contains($0) }), let parsed = try? ParsedURL(text),
            ["", "/"].contains(parsed[CURLUPART_PATH] ?? ""), let host = parsed.host, host.utf8.count <= 255
        else { throw InvalidProxy(problem: InvalidProxy.form) }
        switch parsed[CURLUPART_SCHEME] {
        case "http": scheme = .http
        case "https": scheme = .https
        case "socks5h": scheme = .socks5h
        case "socks5":
            throw InvalidProxy(problem: "write socks5h://, because the proxy looks up the names of the hosts")
        default: throw InvalidProxy(problem: InvalidProxy.form)
        }
        self.host = host
        if let port = parsed[CURLUPART_PORT] {
            guard let number = UInt16(port), number > 0 else { throw InvalidProxy(problem: InvalidProxy.form) }
            self.port = Int(number)
        } else {
            port = scheme == .https ? 443 : 1080
        }
        let user = parsed[CURLUPART_USER], password = parsed[CURLUPART_PASSWORD]
        self.user = user.map { _ in parsed[CURLUPART_USER, CURLU_URLDECODE] ?? "" } ?? password.map { _ in "" }
        self.password = self.user.map { _ in parsed[CURLUPART_PASSWORD, CURLU_URLDECODE] ?? "" }
        // HTTP separates user and password by a colon (RFC 7617), and SOCKS allows 255 bytes for each (RFC 1929).
        guard !(self.user?.contains(":") ?? false), (self.user?.utf8.count ?? 0) <= 255,
            (self.password?.utf8.count ?? 0) <= 255
        else {
            throw InvalidProxy(problem: "its user contains a colon, or its user or password has more than 255 bytes")
        }
    }

    /// The URL, excluding user and password.
    package var description: String { "\(scheme.rawValue)://\(host):\(port)" }

    /// The address of the proxy; nil if the host is a name.
    var address: IPAddress? {
        IPAddress(host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...])
    }

    func apply(to curl: UnsafeMutableRawPointer) {
        func set(_ option: CURLoption, _ value: String?) { darkroom_curl_easy_setopt_string(curl, option, value) }
        set(CURLOPT_PROXY, description)
        set(CURLOPT_PROXYUSERNAME, user)
        set(CURLOPT_PROXYPASSWORD, password)
        set(CURLOPT_NOPROXY, "")  // otherwise libcurl reads `no_proxy` from the environment
        darkroom_curl_easy_setopt_long(curl, CURLOPT_PROXYAUTH, Int(basic))
        darkroom_curl_easy_setopt_long(curl, CURLOPT_SOCKS5_AUTH, Int(basic))
        // Headers of the user are never sent in CONNECT requests, which go to the proxy itself.
        darkroom_curl_easy_setopt_long(curl, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    }

    /// `CURLAUTH_BASIC`, a macro that Swift does not import.
    private var basic: UInt { 1 }
}

/// The error for an invalid URL of a proxy. The error omits the URL, which may contain a password.
package struct InvalidProxy: Error, CustomStringConvertible {
    static let form = "write SCHEME://[USER:PASSWORD@]HOST[:PORT] with the scheme http, https or socks5h"

    package let problem: String

    package var description: String { "the proxy: \(problem)" }
}

extension EasyHandle {
    /// The error for a proxy that did not connect to the host; nil if libcurl's `code` has another reason.
    func failureOfProxy(_ code: CURLcode) -> TransferError? {
        guard let proxy = settings.configuration.proxy, let host = attempt?.host else { return nil }
        var (status, reason) = (0, 0)
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_HTTP_CONNECTCODE, &status)
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_PROXY_ERROR, &reason)
        switch (code, status) {
        case (CURLE_COULDNT_RESOLVE_PROXY, _):
            return TransferError(code: .nameNotFound, detail: "the name of the proxy \(proxy) cannot be resolved")
        case (CURLE_PROXY, _):
            let found = errorText.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
            let meaning: TransferError.Code =
                switch CURLproxycode(UInt32(reason)) {
                case CURLPX_REPLY_NOT_ALLOWED: .addressDenied
                case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_IDENTD_DIFFER, CURLPX_IDENTD: .other
                default: .connectFailed
                }
            return TransferError(code: meaning, detail: "the proxy \(proxy): \(found)")
        case (_, 407):
            return TransferError(
                code: .other, detail: "the proxy \(proxy) requires another user or password (status 407)")
        case (_, 400..<500) where ![408, 425, 429].contains(status):
            return TransferError(
                code: .addressDenied, detail: "the proxy \(proxy) does not connect to \(host) (status \(status))")
        case (_, 300...):
            return TransferError(
                code: .connectFailed, detail: "the proxy \(proxy) cannot connect to \(host) (status \(status))")
        // The server sent a reply that is not the reply of a proxy. The codes differ between the versions of libcurl.
        case _ where !isConnected && Self.meaning(of: code, "", status: 0) == .other:
            let found = errorText.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
            return TransferError(code: .connectFailed, detail: "the proxy \(proxy): \(found)")
        default: return nil
        }
    }
}
