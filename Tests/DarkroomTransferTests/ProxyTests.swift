import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// No test looks up a name of a photo's host: there are no such names.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    private func configuration(
        _ proxy: String, _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) throws -> TransferConfiguration {
        let proxy = try ProxyServer(parsing: proxy)
        return .local {
            $0.proxy = proxy
            change(&$0)
        }
    }

    private func fetch(
        _ url: String, _ proxy: String, _ change: (inout TransferConfiguration) -> Void = { _ in }
    ) async throws -> Result<Download, TransferError> {
        await TransferEngine(try configuration(proxy, change)).fetch(url)
    }

    @Test func requestsWithoutTLSGoToTheProxy() async throws {
        let proxy = try HostileServer([
            "http://photos.example/a": .redirect(to: "http://other.example:81/b"),
            "http://other.example:81/b": .answer(body: [1]),
        ])
        let url = "http://ann:p%40ss@localhost:\(proxy.port)"
        let download = try await fetch("http://photos.example/a", url).get()
        #expect(download.body == [1])
        #expect(download.way.map(\.address) == ["proxy", "proxy"])
        #expect(proxy.log.heads.allSatisfy { $0.contains("Proxy-Authorization: Basic YW5uOnBAc3M=\r\n") })
        #expect(proxy.log.heads.count == 2)
    }

    @Test func requestsWithTLSAreTunnelled() async throws {
        let certificates = try Certificates()
        let server = try TLSServer(["-cert", certificates.certificate("server"), "-key", certificates.key("server")])
        let proxy = try TunnelProxy(to: server.port)
        defer { proxy.stop() }
        let header = try RequestHeader(parsing: "localhost=Authorization: hush")
        let result = try await fetch("https://localhost/", "http://127.0.0.1:\(proxy.port)") {
            $0.authorities = certificates.authority
            $0.headers = [header]
            $0.userAgent = "darkroom/test"
        }
        #expect(try result.get().body.count > 0)
        #expect(proxy.targets == ["localhost:443"])
        #expect(proxy.heads.allSatisfy { !$0.contains("hush") })
    }

    @Test func socksGetsTheName() async throws {
        let server = try HostileServer(["/a": .redirect(to: "http://other.example/b"), "/b": .answer(body: [1])])
        let proxy = try TunnelProxy(to: Int(server.port), password: "p:ss")
        defer { proxy.stop() }
        let url = "socks5h://ann:p%3ass@127.0.0.1:\(proxy.port)"
        #expect(try await fetch("http://photos.example:8080/a", url).body == [1])
        #expect(proxy.targets == ["photos.example:8080", "other.example:80"])
        #expect(proxy.credentials == ["ann:p:ss", "ann:p:ss"])
        let wrong = "socks5h://ann:hush@127.0.0.1:\(proxy.port)"
        let error = try await fetch("http://photos.example:8080/a", wrong).error
        #expect(error?.code == .other && error?.detail.contains("hush") == false, "\(String(describing: error))")
    }

    /// The proxy has the same authorities as servers, and its TLS sessions are not resumed, because they would be taken for
    /// those of the hosts.
    @Test func proxyWithTLSIsChecked() async throws {
        let certificates = try Certificates()
        let server = try TLSServer(["-cert", certificates.certificate("server"), "-key", certificates.key("server")])
        let url = "https://localhost:\(server.port)"
        #expect(try await fetch("http://photos.example/a", url).error?.code == .tlsFailed)
        let engine = TransferEngine(try configuration(url) { $0.authorities = certificates.authority })
        for _ in 0..<2 {
            let page = try await engine.fetch("http://photos.example/a").get()
            #expect(String(decoding: page.body, as: UTF8.self).contains("New, TLS"))
        }
        let other = "https://127.0.0.1:\(server.port)"
        let error = try await fetch("http://photos.example/a", other) { $0.authorities = certificates.authority }.error
        #expect(error?.code == .tlsFailed)
    }

    @Test(arguments: [
        "http://127.0.0.1/a", "http://0x7f.1/a", "http://10.0.0.1/a", "http://[::1]/a", "http://[::ffff:127.0.0.1]/a",
        "http://localhost/a", "http://a.localhost./a", "http://169.254.169.254/a", "http://public.example/redirect",
    ])
    func privateAddressesInURLsAreDenied(url: String) async throws {
        let proxy = try HostileServer(["http://public.example/redirect": .redirect(to: "http://127.0.0.1/a")])
        let server = try ProxyServer(parsing: "http://127.0.0.1:\(proxy.port)")
        var configuration = TransferConfiguration.local { $0.proxy = server }
        configuration.allowPrivate = false
        // Only the proxy's own address is allowed.
        let engine = TransferEngine(configuration, allows: { $0 == IPAddress("127.0.0.1") })
        #expect(await engine.fetch(url).error?.code == .addressDenied)
        #expect(proxy.log.heads.count == (url.contains("public") ? 1 : 0))
    }

    @Test func addressOfTheProxyIsChecked() async throws {
        let proxy = try HostileServer(["http://photos.example/a": .answer(body: [1])])
        for (host, isLiteral) in [("127.0.0.1", true), ("localhost", false)] {
            let denied = try configuration("http://\(host):\(proxy.port)") { $0.allowPrivate = false }
            #expect((denied.problemOfProxy != nil) == isLiteral)
            let error = await TransferEngine(denied).fetch("http://photos.example/a").error
            #expect(
                error?.code == .addressDenied && error?.detail.contains("proxy") == true, "\(String(describing: error))"
            )
        }
        #expect(proxy.log.heads.isEmpty)
        let allowed = try configuration("http://127.0.0.1:\(proxy.port)") {
            $0.allowPrivate = false
            $0.allowedNetworks = [NetworkRange(constant: "127.0.0.0/8")]
        }
        #expect(allowed.problemOfProxy == nil)
        #expect(await TransferEngine(allowed).fetch("http://photos.example/a").body == [1])
    }

    @Test(arguments: [
        ("403", TransferError.Code.addressDenied), ("407", .other), ("502", .connectFailed),
        ("garbage", .connectFailed),
        ("hangup", .connectFailed), ("stall", .timeout), ("redirect", .connectFailed), ("huge", .tooLarge),
    ])
    func faultsOfTheProxyHaveTheirCodes(fault: String, code: TransferError.Code) async throws {
        let routes: [String: HostileServer.Route] = [
            "403": .answer(status: 403, body: Array("<html>".utf8)), "407": .answer(status: 407),
            "502": .answer(status: 502, body: [1, 2]), "garbage": .raw(Array("garbage\r\n\r\n\r\n".utf8)),
            "hangup": .hangUp, "stall": .stall, "redirect": .redirect(to: "https://evil.example/"),
            "huge": .endlessHead,
        ]
        let proxy = try HostileServer(["photos.example:443": routes[fault]!])
        let error = try await fetch("https://photos.example/a", "http://ann:hush@127.0.0.1:\(proxy.port)") {
            $0.connectTimeout = .seconds(2)
        }.error
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.detail.contains("hush") == false)
    }

    @Test func missingProxyIsAFailedConnection() async throws {
        let port = try RedisServer.freePort()
        for scheme in ["http", "https", "socks5h"] {
            let error = try await fetch("https://photos.example/a", "\(scheme)://ann:hush@127.0.0.1:\(port)").error
            #expect(
                error?.code == .connectFailed && error?.detail.contains("hush") == false, "\(String(describing: error))"
            )
        }
        let unknown = try await fetch("http://photos.example/a", "http://ann:hush@proxy.invalid:1") {
            $0.nameServers = "127.0.0.1:\(port)"
        }.error
        #expect(
            unknown?.code == .nameNotFound && unknown?.detail.contains("proxy.invalid") == true,
            "\(String(describing: unknown))")
    }

    @Test func limitsStayThoseOfTheHosts() async throws {
        let proxy = try HostileServer([
            "http://a.example/1": .held(.answer(body: [1])), "http://a.example/2": .held(.answer(body: [1])),
            "http://b.example/1": .held(.answer(body: [1])),
        ])
        let engine = TransferEngine(try configuration("http://127.0.0.1:\(proxy.port)") { $0.perHost = 1 })
        let bodies = Collected<[UInt8]?>()
        for url in ["http://a.example/1", "http://a.example/2", "http://b.example/1"] {
            engine.start(url) { bodies.add($0.body) }
        }
        #expect(await proxy.wait { $0.running == 2 })
        proxy.release()
        #expect(await bodies.wait(for: 3) == [[1], [1], [1]])
        #expect(proxy.log.mostRunning == 2)
    }

    @Test func cachedBytesThatCameThroughAProxyNeedAProxy() throws {
        let way = [RequestStop(host: "photos.example", address: RequestStop.proxy)]
        #expect(!FetchRules.isOrdinary(way))
        #expect(FetchRules(try configuration("http://8.8.8.8")).allow(way))
        #expect(!FetchRules(.local()).allow(way))
        let rules = FetchRules(try configuration("http://8.8.8.8") { $0.allowPrivate = false })
        #expect(rules.allow(way) && !rules.allow([RequestStop(host: "127.0.0.1", address: RequestStop.proxy)]))
    }

    @Test(arguments: [
        ("http://proxy.example", "http://proxy.example:1080"), ("HTTPS://Proxy.Example/", "https://proxy.example:443"),
        ("socks5h://ann:hush@[::1]:9050", "socks5h://[::1]:9050"), ("http://:hush@p:3128", "http://p:3128"),
        ("http://0x7f.1:80", "http://127.0.0.1:80"),
    ])
    func readsTheURL(text: String, description: String) throws {
        #expect(try ProxyServer(parsing: text).description == description)
    }

    @Test(arguments: [
        "", "proxy.example", "proxy.example:3128", "socks5://hush@a", "socks4://hush@a", "ftp://hush@a", "http://",
        "http://a/hush", "http://a?hush", "http://a#hush", "http://a:0", "http://a:99999", "http://hush%3a:b@a",
        "file:///hush", "http://\(String(repeating: "a", count: 300)):1",
    ])
    func refusesOtherTextsWithoutShowingThem(text: String) {
        #expect { try ProxyServer(parsing: text) } throws: { error in
            error is InvalidProxy && !"\(error)".contains("hush")
        }
    }

    @Test func environmentIsIgnored() async throws {
        let proxy = try HostileServer([:])
        let server = try HostileServer(["/a": .answer(body: [1])])
        for name in ["http_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:\(proxy.port)", 1) }
        setenv("no_proxy", "*", 1)
        defer { for name in ["http_proxy", "all_proxy", "ALL_PROXY", "no_proxy"] { unsetenv(name) } }
        #expect(await TransferEngine(.local()).fetch(server.url("/a")).body == [1])
        #expect(proxy.log.heads.isEmpty)
        let given = try HostileServer(["http://photos.example/a": .answer(body: [2])])
        #expect(try await fetch("http://photos.example/a", "http://127.0.0.1:\(given.port)").body == [2])
    }
}
