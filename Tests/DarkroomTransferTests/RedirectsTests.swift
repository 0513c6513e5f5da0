import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) struct RedirectsTests {
    private func hop(_ start: String, _ location: String) throws -> Redirects.Hop {
        var redirects = Redirects(from: start, limit: 5, rules: HostRules(allowed: [], denied: []))
        return try redirects.follow(location)
    }

    @Test(arguments: [
        ("http://ann:pw@a.org/1", "http://a.org/2", "http://ann:pw@a.org/2"),
        ("http://ann:pw@a.org/1", "http://A.org.:80/2", "http://ann:pw@A.org.:80/2"),
        ("http://ann:pw@a.org/1", "http://bob@a.org/2", "http://bob@a.org/2"),
        ("http://a.org/1", "http://a.org/2", "http://a.org/2"),
    ])
    func redirectToTheSameOriginKeepsCredentials(start: String, location: String, url: String) throws {
        #expect(try hop(start, location) == Redirects.Hop(url: url, host: "a.org"))
    }

    @Test(arguments: [
        "http://b.org/2", "https://a.org/2", "http://a.org:8080/2", "http://sub.a.org/2", "http://a.org.evil.net/",
        "http://a.org@evil.net/",
    ])
    func redirectToAnotherOriginDropsCredentials(location: String) throws {
        let hop = try hop("http://ann:pw@a.org/1", location)
        #expect(hop.url == location && !hop.isAtHome)
        let plain = try self.hop("https://ann:pw@a.org/1", "http://a.org/1")
        #expect(!plain.isAtHome && plain.isExposed, "a redirect from https to http kept the credentials")
    }

    @Test(arguments: [
        ("file:///etc/passwd", TransferError.Code.schemeDenied), ("file://a.org/etc/passwd", .notAURL),
        ("ftp://a.org/", .schemeDenied), ("gopher://a.org/", .schemeDenied), ("javascript:1", .notAURL),
        ("http://", .notAURL), ("data:image/png;base64,AA", .notAURL), ("dict://127.0.0.1:6379/", .schemeDenied),
    ])
    func refusesOtherSchemesAndInvalidURLs(location: String, code: TransferError.Code) {
        let refusal = expectError(TransferError.self) { try hop("http://a.org/1", location) }
        #expect(refusal?.code == code, "\(refusal?.detail ?? "")")
    }

    @Test func endsAtItsLimitAndChecksTheRulesForEachHop() throws {
        let rules = HostRules(allowed: [], denied: [try HostPattern(parsing: "*.evil.net")])
        var redirects = Redirects(from: "http://a.org/", limit: 2, rules: rules)
        _ = try redirects.follow("http://b.org/")
        #expect(throws: TransferError.self) { try redirects.follow("http://x.EVIL.net./") }
        let refusal = expectError(TransferError.self) { try redirects.follow("http://b.org/") }
        #expect(refusal?.code == .tooManyRedirects)
    }

    // MARK: Requests

    private static let secrets = [
        "Authorization: Bearer secret", "Cookie: id=secret", "X-Api-Key: secret", "Proxy-Authorization: secret",
    ]
    private static let harmless = ["Accept: image/*", "Accept-Language: de", "User-Agent: me"]

    @Test func sendsSecretsToTheFirstOriginOnly() async throws {
        let other = try HostileServer(["/there": .answer(body: [2])])
        let target = other.url("/there")
        let home = try HostileServer(["/a": .redirect(to: "/b"), "/b": .redirect(to: target)])
        let configuration = TransferConfiguration.local {
            $0.headers = (Self.secrets + Self.harmless).map { RequestHeader($0) }
        }
        let url = home.url("/a").replacingOccurrences(of: "://", with: "://ann:pw@")
        #expect(await TransferEngine(configuration).fetch(url).body == [2])
        #expect(home.log.heads.count == 2)
        for head in home.log.heads {
            #expect(
                Self.secrets.dropFirst().allSatisfy { head.contains($0) } && head.contains("uthorization: "), "\(head)")
        }
        let head = try #require(other.log.heads.first)
        #expect(!head.contains("secret") && !head.lowercased().contains("authorization"), "\(head)")
        #expect(Self.harmless.allSatisfy { head.contains($0) }, "\(head)")
    }

    @Test func headerOfAHostIsSentToThatHostOnly() async throws {
        let other = try HostileServer(["/there": .answer(body: [2])])
        let home = try HostileServer(["/a": .redirect(to: "http://other.example:\(other.port)/there")])
        let header = try RequestHeader(parsing: "http://home.example:\(home.port)=X-Api-Key: secret")
        let engine = TransferEngine(
            .local {
                $0.headers = [header, RequestHeader("Accept: image/*")]
                $0.connectTo = [
                    "home.example:\(home.port):127.0.0.1:\(home.port)",
                    "other.example:\(other.port):127.0.0.1:\(other.port)",
                ]
            })
        #expect(await engine.fetch("http://HOME.example:\(home.port)/a").body == [2])
        #expect(await engine.fetch("http://other.example:\(other.port)/there").body == [2])
        #expect(home.log.heads.count == 1 && home.log.heads.allSatisfy { $0.contains("X-Api-Key: secret") })
        #expect(other.log.heads.count == 2 && !other.log.heads.contains { $0.contains("secret") })
        #expect((home.log.heads + other.log.heads).allSatisfy { $0.contains("Accept: image/*") })
    }

    @Test func headerOfAHostFollowsNoRedirectFromHTTPSToHTTP() throws {
        let header = try RequestHeader(parsing: "*.a.org=Cookie: id=secret")
        #expect(try hop("https://x.a.org/", "https://y.a.org/").takes(header))
        #expect(try !hop("https://x.a.org/", "http://y.a.org/").takes(header))
        #expect(try !hop("https://x.a.org/", "https://y.a.org.evil.net/").takes(header))
        let plain = try RequestHeader(parsing: "http://*.a.org=Cookie: id=secret")
        #expect(try hop("http://b.org/", "http://y.a.org/").takes(plain))
        #expect(try !hop("https://x.a.org/", "http://y.a.org/").takes(plain))
    }

    @Test(arguments: [
        ("a.org=X-Api-Key: x", "https://a.org/", true), ("a.org=X-Api-Key: x", "https://a.org:443/", true),
        ("a.org=X-Api-Key: x", "http://a.org/", false), ("a.org=X-Api-Key: x", "https://a.org:8443/", false),
        ("a.org=X-Api-Key: x", "http://a.org:443/", false), ("a.org=X-Custom: x", "http://a.org/", false),
        ("https://a.org=X-Api-Key: x", "http://a.org/", false), ("https://a.org=X-Api-Key: x", "https://a.org/", true),
        ("http://a.org=X-Api-Key: x", "http://a.org/", true), ("http://a.org=X-Api-Key: x", "https://a.org/", true),
        ("http://a.org=X-Api-Key: x", "http://a.org:8080/", false),
        ("http://a.org:8080=X-Api-Key: x", "http://a.org:8080/", true),
        ("http://a.org:8080=X-Api-Key: x", "http://a.org/", false),
        ("a.org:8443=X-Api-Key: x", "https://a.org:8443/", true), ("a.org:8443=X-Api-Key: x", "https://a.org/", false),
        ("a.org:8443=X-Api-Key: x", "http://a.org:8443/", false),
        ("127.0.0.1=X-Api-Key: x", "http://127.0.0.1/", true), ("[::1]=X-Api-Key: x", "http://[::1]/", true),
        ("10.1.2.3:81=X-Api-Key: x", "http://10.1.2.3:81/", true),
        ("10.1.2.3=X-Api-Key: x", "http://10.1.2.3:81/", false),
        ("[fd00::1]:81=X-Api-Key: x", "http://[fd00::1]:81/", true),
        ("localhost=X-Api-Key: x", "http://localhost/", true),
        ("8.8.8.8=X-Api-Key: x", "http://8.8.8.8/", false), ("a.org=Accept: x", "http://a.org:8080/", true),
        ("a.org:81=Accept: x", "http://a.org:8080/", false),
    ])
    func headerOfAHostIsSentToItsSchemeAndPortOnly(header: String, url: String, isTaken: Bool) throws {
        guard case .web(let url, let host) = try TransferURL(parsing: url) else {
            Issue.record("\(url) is not a web address")
            return
        }
        #expect(try Redirects.Hop(url: url, host: host).takes(RequestHeader(parsing: header)) == isTaken)
    }

    @Test(arguments: [
        "Authorization: Bearer x", "cookie: x", "Proxy-Authorization: x", "X-Api-Key: x", "X-Auth-Token: x",
        "Private-Token: x", "X-Amz-Security-Token: x", "Client-Secret: x", "X-Session-Id: x", "X-Password: x",
        "X-Amz-Credential: x", "X-Signature: x", "X-JWT: x",
    ])
    func headerWithASecretMustNameItsHost(line: String) throws {
        #expect(throws: InvalidRequestHeader.self) { try RequestHeader(parsing: line) }
        #expect(
            try RequestHeader(parsing: "a.org=" + line) == RequestHeader(line, hosts: HostPattern(parsing: "a.org")))
    }

    @Test(arguments: [
        ("Accept: a=b", nil, "Accept: a=b"), ("*.a.org=Accept:a=b", "*.a.org", "Accept:a=b"),
        ("[::1]=Referer: http://a/?b=c", "[::1]", "Referer: http://a/?b=c"),
        ("Referer: http://a/?b=c", nil, "Referer: http://a/?b=c"),
        ("Link: <http://a:80>; a=b", nil, "Link: <http://a:80>; a=b"),
        ("http://a.org=Cookie: a=b", "a.org", "Cookie: a=b"), ("HTTPS://a.org:8443=Cookie: a", "a.org", "Cookie: a"),
        ("http://[::1]:80=Cookie: a", "[::1]", "Cookie: a"),
    ])
    func readsAHeaderWithAndWithoutAHost(text: String, host: String?, line: String) throws {
        let header = try RequestHeader(parsing: text)
        #expect(header.line == line && header.hosts?.description == host)
    }

    @Test func sendsSecretsAgainOnlyInATransferToTheirOrigin() async throws {
        // `home` redirects to the server `away`, which redirects to itself. No request to `away` has the secret.
        let away = try HostileServer(["/x": .inTurn([.redirect(to: "/y")]), "/y": .answer(body: [3])])
        let home = try HostileServer(["/a": .redirect(to: away.url("/x"))])
        let engine = TransferEngine(.local { $0.headers = [RequestHeader("X-Api-Key: secret")] })
        #expect(await engine.fetch(home.url("/a")).body == [3])
        #expect(away.log.heads.count == 2 && !away.log.heads.contains { $0.contains("secret") })
        #expect(await engine.fetch(away.url("/y")).body == [3])
        #expect(
            away.log.heads.last?.contains("X-Api-Key: secret") == true,
            "a transfer that starts at the other server has no secret")
    }

    @Test func nextAttemptStartsWithTheHeadersOfTheFirstOrigin() async throws {
        let away = try HostileServer(["/x": .inTurn([.hangUp, .answer(body: [4])])])
        let home = try HostileServer(["/a": .redirect(to: away.url("/x"))])
        let engine = TransferEngine(
            .local {
                $0.headers = [RequestHeader("X-Api-Key: secret")]
                $0.patience = .seconds(60)
            })
        #expect(await engine.fetch(home.url("/a")).body == [4])
        #expect(home.log.heads.allSatisfy { $0.contains("secret") } && home.log.requests == ["/a": 2])
        #expect(!away.log.heads.contains { $0.contains("secret") })
    }

    @Test func connectsToNoDeniedHost() async throws {
        let server = try HostileServer(["/a": .redirect(to: "http://localhost:1/x")])
        let configuration = TransferConfiguration.local {
            $0.deniedHosts = [.localhost]
            $0.connectTo = ["localhost:1:127.0.0.1:\(server.port)"]
        }
        let engine = TransferEngine(configuration)
        let first = await engine.fetch("http://LOCALHOST:1/a").error
        #expect(first?.code == .addressDenied && first?.attempts == 0, "\(first?.detail ?? "no error")")
        #expect(server.log.requests.isEmpty)
        let redirected = await engine.fetch(server.url("/a")).error
        #expect(redirected?.code == .addressDenied && redirected?.attempts == 1, "\(redirected?.detail ?? "no error")")
        #expect(server.log.requests == ["/a": 1])
    }

    @Test func timeoutCoversAllRedirectsTogether() async throws {
        let server = try HostileServer(["/a": .inTurn([.redirect(to: "/b")]), "/b": .stall])
        let engine = TransferEngine(.local { $0.timeout = .milliseconds(300) })
        let began = ContinuousClock.now
        #expect(await engine.fetch(server.url("/a")).error?.code == .timeout)
        #expect(.now - began < .seconds(10))
    }

    @Test func failsARedirectWithATooLargeBody() async throws {
        let endless = "HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n" + String(repeating: "page ", count: 200_000)
        let server = try HostileServer(["/a": .raw(Array(endless.utf8)), "/b": .answer(body: [5])])
        #expect(await TransferEngine(.local()).fetch(server.url("/a")).error?.code == .tooLarge)
        #expect(server.log.requests == ["/a": 1])
    }
}

extension HostPattern {
    fileprivate static var localhost: HostPattern {
        do { return try HostPattern(parsing: "localhost") } catch { fatalError("\(error)") }
    }
}
