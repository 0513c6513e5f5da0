import DarkroomLogging
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWeb

/// Tokens, cookies and redirections of a real server.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
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
        for route in WebServer.routes where [.clients, .metrics].contains(route.access) {
            let path = route.pattern.text.replacing("{index}", with: "0")
            for query in ["", "?token=\(TestSite.token)", "?access_token=\(TestSite.token)"] {
                let reply = try site.fetch(route.method.rawValue, path + query)
                #expect(reply.status == 401, "\(route.method) \(path)\(query)")
                #expect(reply.headers["www-authenticate"] == "Bearer")
                #expect(reply.headers["set-cookie"] == nil)
            }
        }
        let open = WebServer.routes.filter { ![.clients, .metrics].contains($0.access) }.map(\.pattern.text)
        #expect(
            Set(open) == ["/api/v1/openapi.json", "/healthz", "/readyz", "/login", "/static/{version}/{file}"])
    }

    @Test func tokenForMetricsReadsNothingElse() throws {
        let token = "0123456789abcdef-metrics"
        let site = try TestSite { $0.metricsToken = token }
        let login = ["Authorization": "Bearer \(token)"]
        for route in WebServer.routes where [.clients, .metrics].contains(route.access) {
            let path = route.pattern.text.replacing("{index}", with: "0")
            let reply = try site.fetch(route.method.rawValue, path, headers: login)
            #expect(reply.status == (path == "/metrics" ? 200 : 401), "\(route.method) \(path)")
        }
        #expect(try site.fetch("GET", "/metrics", headers: ["Authorization": "Bearer \(token)x"]).status == 401)
        // The token cannot be used to log in.
        #expect(try site.fetch("GET", "/login?token=\(token)").status == 403)
    }

    @Test func tokenForMetricsNeedsNoProxy() throws {
        let token = "0123456789abcdef-metrics"
        let site = try TestSite {
            $0.access = .header("X-User", from: ["192.0.2.1"])
            $0.metricsToken = token
        }
        #expect(try site.fetch("GET", "/metrics", headers: ["Authorization": "Bearer \(token)"]).status == 200)
        #expect(try site.fetch("GET", "/api/v1/status", headers: ["Authorization": "Bearer \(token)"]).status == 403)
    }

    /// Who has changed what, and from where.
    @Test func changesAreLogged() throws {
        let scratch = try ScratchFolder()
        let path = try scratch.write("log", "")
        let descriptor = open(path, O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        let site = try TestSite {
            $0.access = .header("X-User", from: ["127.0.0.1"])
            $0.logger = Logger(label: "serve", handler: StreamLog(descriptor: descriptor))
        }
        let id = try site.submit()
        let user = ["X-User": "ada \u{1b}[31m", "X-Forwarded-For": "192.0.2.7", "Content-Type": "application/json"]
        func lines() throws -> [Substring] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        }
        #expect(try site.fetch("GET", "/api/v1/batches/\(id)", headers: user).status == 200)
        #expect(
            try site.fetch("POST", "/api/v1/batches/\(id)/priority", headers: user, body: Array("{}".utf8)).status
                == 400)
        #expect(try lines().isEmpty)
        #expect(try site.fetch("POST", "/api/v1/batches/\(id)/suspend", headers: user).status == 200)
        let line = try #require(try lines().first)
        for part in ["POST /api/v1/batches/\(id)/suspend", "ada ", "127.0.0.1", "192.0.2.7"] {
            #expect(line.contains(part), "\(line)")
        }
        #expect(!line.contains("\u{1b}"))
    }

    @Test func probesNeedNeitherLoginNorName() throws {
        let site = try TestSite { $0.access = .header("X-User", from: ["192.0.2.1"]) }
        for path in ["/healthz", "/readyz"] {
            #expect(try site.fetch("GET", path, headers: ["Host": "10.1.2.3:8080"]).status == 200)
        }
        #expect(try site.fetch("GET", "/").status == 403)
    }

    @Test func serverWithoutATokenAsksForNone() throws {
        let site = try TestSite { $0.access = .header("X-User", from: ["127.0.0.1"]) }
        let reply = try site.fetch("GET", "/", headers: ["Accept": "text/html"])
        #expect(reply.status == 401)
        #expect(!reply.text.contains("name=\"token\""))
        #expect(reply.text.contains("the proxy has named no user"))
        #expect(try site.fetch("GET", "/", headers: ["X-User": "ann"]).status == 200)
    }

    @Test func loginLeadsToThePageWithItsQuery() throws {
        let reply = try site.fetch("GET", "/batches/x?name=a%26b", headers: ["Accept": "text/html"])
        #expect(reply.status == 401)
        #expect(reply.text.contains("value=\"/batches/x?name=a%26b\""))
    }

    /// Bodies that are not complete count against a limit of all clients, and everybody may send a login.
    @Test func unfinishedLoginsDoNotBlockOthers() throws {
        let clients = try (0..<100).map { _ in try RawClient(port: site.port) }
        for client in clients {
            client.send("POST /login HTTP/1.1\r\nHost: 127.0.0.1:\(site.port)\r\n")
            client.send("Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        }
        #expect(try login("").status == 303)
        withExtendedLifetime(clients) {}
    }

    /// A form of many fields must not take processor time.
    @Test func manyFieldsAreRefusedAtOnce() throws {
        let form = (0..<100_000).map { String($0, radix: 36) }.joined(separator: "&")
        let began = ContinuousClock.now
        let reply = try site.fetch(
            "PUT", "/api/v1/limits",
            headers: [
                "Authorization": "Bearer \(TestSite.token)", "Content-Type": "application/x-www-form-urlencoded",
            ], body: Array(form.utf8))
        #expect(reply.status == 400)
        #expect(.now - began < .seconds(10), "it took minutes when each field was compared with all others")
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

    /// Pages for clients that have not logged in do not name Redis.
    @Test func pagesBeforeTheLoginSayNothingAboutTheCluster() throws {
        for path in ["/", "/none", "/login?token=wrong"] {
            let reply = try site.fetch("GET", path, headers: ["Accept": "text/html"])
            #expect(reply.status >= 400)
            #expect(!reply.text.contains(site.client.location.description), "\(path)")
            #expect(!reply.text.contains("<nav"), "\(path)")
        }
        let wrong = try site.fetch("GET", "/login?token=wrong", headers: ["Accept": "text/html"])
        #expect(wrong.status == 403)
        #expect(wrong.text.contains("this is not the token") && wrong.text.contains("name=\"token\""))
        #expect(try site.fetch("GET", "/login?token=wrong").headers["content-type"] == "application/problem+json")
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
