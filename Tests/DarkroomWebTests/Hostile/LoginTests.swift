import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWeb

/// Tokens, cookies and redirections of a real server.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(1)))
struct LoginTests {
    private let site: TestSite

    init() throws { site = try TestSite() }

    private func login(_ next: String, headers: [String: String] = [:]) throws -> HTTPReply {
        let form =
            "token=\(TestSite.token)&next=" + (next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        let type = ["Content-Type": "application/x-www-form-urlencoded"]
        return try site.fetch("POST", "/login", headers: type.merging(headers) { $1 }, body: Array(form.utf8))
    }

    /// Every route but the open ones needs a login, and a token in the query is none.
    @Test func everyRouteNeedsALogin() throws {
        for route in WebServer.routes where route.access == .clients {
            let path = route.pattern.text.replacing("{index}", with: "0")
            for query in ["", "?token=\(TestSite.token)", "?access_token=\(TestSite.token)"] {
                let reply = try site.fetch(route.method.rawValue, path + query)
                #expect(reply.status == 401, "\(route.method) \(path)\(query)")
                #expect(reply.headers["www-authenticate"] == "Bearer")
                #expect(reply.headers["set-cookie"] == nil)
            }
        }
        let open = WebServer.routes.filter { $0.access == .everybody }.map(\.pattern.text)
        #expect(
            Set(open) == ["/api/v1/openapi.json", "/healthz", "/readyz", "/login", "/static/{version}/{file}"])
    }

    @Test func cookieOfALoginIsAccepted() throws {
        let reply = try login("/batches/x?a=b")
        #expect(reply.status == 303)
        #expect(reply.headers["location"] == "/batches/x?a=b")
        let cookie = try #require(reply.headers["set-cookie"])
        #expect(cookie.hasPrefix("darkroom-session-\(site.port)="))
        for attribute in ["; HttpOnly", "; SameSite=Strict", "; Path=/"] { #expect(cookie.contains(attribute)) }
        #expect(!cookie.contains("Secure"))
        #expect(!cookie.contains(TestSite.token))
        let value = String(cookie.prefix { $0 != ";" })
        #expect(try site.fetch("GET", "/api/v1/status", headers: ["Cookie": value]).status == 200)
        #expect(try site.fetch("GET", "/api/v1/status", headers: ["Cookie": value + "0"]).status == 401)
        let behindTLS = try login("", headers: ["X-Forwarded-Proto": "https"])
        #expect(behindTLS.headers["set-cookie"]?.hasSuffix("; Secure") == true)
    }

    @Test(arguments: [
        "//evil.example", "/\\evil.example", "https://evil.example/", "javascript:alert(1)", "\\\\evil.example",
        "/\t/evil.example",
        "/ /evil.example", "/\r\nSet-Cookie: a=b", "evil.example", "", "/login", "/\u{0}",
    ])
    func loginRedirectsOnlyToThisSite(next: String) throws {
        let reply = try login(next)
        #expect(reply.status == 303)
        #expect(reply.headers["location"] == "/")
        #expect(reply.headers["set-cookie"]?.hasPrefix("darkroom-session") == true)
    }

    @Test(arguments: [
        "evil.example\r\nX-Forged: 1", "a;b", "localhost:99999999", "localhost:80;Domain=evil.example", "é:1",
    ])
    func cookieNameIsSafeForEveryHost(host: String) throws {
        let raw = try RawClient(port: site.port)
        raw.send("GET /login?token=\(TestSite.token) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
        let text = raw.read()
        #expect(
            text.firstMatch(of: #/Set-Cookie: darkroom-session(-\d{1,5})?=[0-9a-f]{64}; Path=/; HttpOnly/#) != nil
                || text.hasPrefix("HTTP/1.1 400"), "\(text)")
    }

    @Test func wrongTokenIsRefused() throws {
        for token in ["", "x", TestSite.token + "0", String(repeating: "a", count: 30_000)] {
            let reply = try site.fetch("GET", "/login?token=\(token)")
            #expect([401, 403, 413, 414, 431].contains(reply.status), "\(reply.status)")
            #expect(reply.headers["set-cookie"] == nil)
        }
    }

    @Test func loginOfAnotherSiteIsRefused() throws {
        #expect(try login("", headers: ["Origin": "http://evil.example"]).status == 403)
        #expect(try login("", headers: ["Sec-Fetch-Site": "cross-site"]).status == 403)
    }

    /// Every response has the fields that protect browsers, also the responses to invalid requests.
    @Test func everyResponseProtectsBrowsers() throws {
        let batch = try site.submit()
        let login = ["Authorization": "Bearer \(TestSite.token)", "Accept": "text/html"]
        let targets = [
            "/", "/batches/\(batch)", "/nothing", "/%2e%2e/", "/api/v1/status", "/api/v1/batches/x", "/login",
            "/static/style.css",
        ]
        for target in targets {
            for headers in [login, [:]] {
                let reply = try site.fetch("GET", target, headers: headers)
                #expect(reply.headers["content-security-policy"]?.contains("default-src 'none'") == true, "\(target)")
                #expect(reply.headers["content-security-policy"]?.contains("unsafe") == false, "\(target)")
                #expect(reply.headers["x-content-type-options"] == "nosniff", "\(target)")
                #expect(reply.headers["x-frame-options"] == "DENY", "\(target)")
                #expect(reply.headers["referrer-policy"] == "same-origin", "\(target)")
                #expect(reply.headers["cross-origin-resource-policy"] == "same-origin", "\(target)")
            }
        }
    }
}
