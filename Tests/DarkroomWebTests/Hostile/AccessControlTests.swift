import DarkroomHTTP
import Testing

@testable import DarkroomWeb

/// The decisions about requests, without a server.
struct AccessControlTests {
    private static let token = "0123456789abcdef"

    private func decision(_ headers: [String: String]) -> AccessControl.Decision {
        decision(.token(Self.token), .get, headers)
    }

    private func decision(
        _ rule: AccessRule, client: String = "127.0.0.1", _ headers: [String: String]
    ) -> AccessControl.Decision {
        decision(rule, .get, client: client, headers)
    }

    private func decision(
        _ rule: AccessRule, _ method: HTTPMethod, tls: Bool = false, client: String = "127.0.0.1",
        _ headers: [String: String], repeated: Set<String> = []
    ) -> AccessControl.Decision {
        let control = AccessControl(
            rule, address: ListenAddress(host: "127.0.0.1", port: 8080), hosts: ["Photos.example"], hasTLS: tls)
        let request = HTTPRequest(
            method: method, target: RequestTarget("/".utf8)!,  // a valid target
            headers: ["host": "localhost:8080"].merging(headers) { $1 }, repeatedHeaders: repeated, client: client)
        return control.decision(on: request)
    }

    private func isRefused(_ decision: AccessControl.Decision) -> Bool {
        if case .refused = decision { true } else { false }
    }

    /// The value of the session cookie of a token.
    private func session(_ token: String) -> String {
        AccessControl(.token(token), address: ListenAddress(host: "127.0.0.1", port: 8080), hosts: [], hasTLS: false)
            .sessionCookie
    }

    /// The proxy, or its client, may have sent the field.
    @Test func repeatedFieldOfTheProxyIsRefused() {
        let rule = AccessRule.header("X-User", from: ["127.0.0.1"])
        #expect(decision(rule, ["x-user": "ann"]) == .allowed)
        for value in ["ann, bob", ", "] {
            #expect(isRefused(decision(rule, .get, ["x-user": value], repeated: ["x-user"])))
        }
    }

    // MARK: - Tokens

    @Test(arguments: [
        "Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER 0123456789abcdef",
    ])
    func tokenIsAccepted(field: String) {
        #expect(decision(["authorization": field]) == .allowed)
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdeg", "Bearer 0123456789abcdef0",
        "Bearer 0123456789abcdef0123456789abcdef", "Bearer 0123456789ABCDEF", "Bearer  0123456789abcdef",
        "Basic 0123456789abcdef", "0123456789abcdef", "Bearer 0123456789abcdef, Bearer x", "Bearer \u{0}",
    ])
    func otherTokensAreRefused(field: String) {
        #expect(decision(["authorization": field]) == .unknownClient)
    }

    @Test func cookieIsOfTheTokenAndOfThePort() {
        let own = session(Self.token)
        #expect(decision(["cookie": "darkroom-session-8080=\(own)"]) == .allowed)
        #expect(decision(["cookie": "a=b; darkroom-session-8080=\(own); c=d"]) == .allowed)
        for cookie in [
            "darkroom-session-8080=\(session("fedcba9876543210"))", "darkroom-session-9090=\(own)",
            "darkroom-session=\(own)",
            "darkroom-session-8080=", "darkroom-session-8080=\(Self.token)", "darkroom-session-8080", "=\(own)",
            "darkroom-session-8080=x; darkroom-session-8080=\(own)", "Darkroom-Session-8080=\(own)",
        ] {
            #expect(decision(["cookie": cookie]) == .unknownClient, "\(cookie)")
        }
        // A wrong token is not replaced by a cookie.
        #expect(decision(["cookie": "darkroom-session-8080=\(own)", "authorization": "Bearer x"]) == .unknownClient)
        // Proxies with their own login pass such fields on.
        #expect(decision(["cookie": "darkroom-session-8080=\(own)", "authorization": "Basic YTpi"]) == .allowed)
        #expect(decision(["authorization": "Basic YTpi"]) == .unknownClient)
    }

    // MARK: - Hosts

    @Test(arguments: [
        "localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "photos.example",
        "PHOTOS.example:1",
    ])
    func knownHostIsAllowed(host: String) {
        #expect(decision(.everybody, ["host": host]) == .allowed)
    }

    @Test(arguments: [
        "", "evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", "evil.example:8080", "localhost.",
        "[::2]",
        "::1", "127.0.0.2", "0.0.0.0", "evil.example#localhost", "localhost@evil.example", "localhost/evil.example",
        " localhost",
        "[localhost]", "photos.example.", "xn--localhost", "evil.example]:8080", "2130706433",
    ])
    func unknownHostIsRefusedWithoutAToken(host: String) {
        #expect(isRefused(decision(.everybody, ["host": host])))
        let header = AccessRule.header("X-User", from: ["127.0.0.1"])
        #expect(
            isRefused(decision(header, ["host": host, "x-user": "ann"])), "scripts of a rebound name can set the field")
        // With a token, such a request has neither cookie nor token.
        #expect(decision(["host": host]) == .unknownClient)
    }

    // MARK: - Origins

    @Test(arguments: HTTPMethod.unsafe)
    func requestOfThisSiteIsAllowed(method: HTTPMethod) {
        for headers in [
            [:], ["origin": "http://localhost:8080"], ["origin": "HTTP://LOCALHOST:8080"],
            ["origin": "http://localhost:8080", "sec-fetch-site": "same-origin"], ["sec-fetch-site": "same-origin"],
            ["host": "[::1]:8080", "origin": "http://[::1]:8080"],
        ] {
            #expect(decision(.everybody, method, headers) == .allowed, "\(headers)")
        }
    }

    @Test(arguments: HTTPMethod.unsafe)
    func requestOfAnotherSiteIsRefused(method: HTTPMethod) {
        for headers in [
            ["origin": "null"], ["origin": ""], ["origin": "http://localhost"], ["origin": "http://localhost:80"],
            ["origin": "http://localhost:8081"], ["origin": "http://127.0.0.1:8080"], ["origin": "http://[::1]:8080"],
            ["origin": "http://evil.example"], ["origin": "http://localhost:8080.evil.example"],
            ["origin": "localhost:8080"],
            ["origin": "file://localhost:8080"], ["origin": "chrome-extension://localhost:8080"],
            ["origin": "http://localhost:8080 http://evil.example"], ["origin": "http://evil.example@localhost:8080"],
            ["origin": "http://localhost:8080/"], ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"],
            ["sec-fetch-site": "none"], ["origin": "http://localhost:8080", "sec-fetch-site": "cross-site"],
        ] {
            #expect(isRefused(decision(.everybody, method, headers)), "\(headers)")
            let withToken = headers.merging(["authorization": "Bearer \(Self.token)"]) { $1 }
            #expect(isRefused(decision(.token(Self.token), method, withToken)), "\(headers)")
        }
    }

    /// Somebody else in the network can send pages of http://photos.example.
    @Test func originWithoutTLSIsRefusedByAServerWithTLS() {
        let own = ["host": "photos.example", "origin": "https://photos.example"]
        let plain = ["host": "photos.example", "origin": "http://photos.example"]
        #expect(decision(.everybody, .post, tls: true, own) == .allowed)
        #expect(isRefused(decision(.everybody, .post, tls: true, plain)))
        #expect(isRefused(decision(.everybody, .post, plain.merging(["x-forwarded-proto": "https"]) { $1 })))
        #expect(decision(.everybody, .post, plain) == .allowed)
    }

    /// Another site may link to a page, but neither show a photo nor read a list.
    @Test func otherSitesUseNothingButLinks() {
        for site in ["cross-site", "same-site"] {
            #expect(decision(.everybody, ["sec-fetch-site": site, "sec-fetch-mode": "navigate"]) == .allowed)
            for mode in ["no-cors", "cors", "websocket", ""] {
                #expect(isRefused(decision(.everybody, ["sec-fetch-site": site, "sec-fetch-mode": mode])))
            }
        }
        #expect(decision(.everybody, ["sec-fetch-site": "none", "sec-fetch-mode": "no-cors"]) == .allowed)
    }

    // MARK: - Proxies

    @Test func headerOfTheProxyIsTrusted() {
        let rule = AccessRule.header("X-User", from: ["192.0.2.1", "2001:DB8:0:0::1"])
        func decision(_ client: String, _ headers: [String: String]) -> AccessControl.Decision {
            self.decision(rule, client: client, headers.merging(["host": "photos.example"]) { $1 })
        }
        #expect(decision("192.0.2.1", ["x-user": "ann"]) == .allowed)
        #expect(decision("2001:db8::1", ["x-user": "ann"]) == .allowed)
        #expect(decision("192.0.2.1", [:]) == .unknownClient)
        #expect(decision("192.0.2.1", ["x-user": ""]) == .unknownClient)
        #expect(decision("192.0.2.1", ["x_user": "ann"]) == .unknownClient)
        for client in ["192.0.2.10", "127.0.0.1", "", "2001:db8::2"] {
            #expect(isRefused(decision(client, ["x-user": "ann", "x-forwarded-for": "192.0.2.1"])), "\(client)")
        }
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1"), ("::1", "::1"),
    ])
    func addressesHaveOneSpelling(text: String, expected: String) {
        #expect(IPAddress.canonical(text) == expected)
    }

    @Test(arguments: ["", "localhost", "256.0.0.1", "1.2.3.4/8", "[::1]", "a"])
    func otherTextIsNoAddress(text: String) {
        #expect(IPAddress.canonical(text) == nil)
    }
}

extension HTTPMethod {
    fileprivate static let unsafe: [HTTPMethod] = [.post, .put, .patch, .delete]
}
