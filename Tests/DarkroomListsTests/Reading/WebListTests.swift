import DarkroomLists
import DarkroomTestSupport
import ErrorExpectations
import Testing

@Suite struct WebListTests {
    @Test func readsListsFromTheWeb() throws {
        let server = try HostileServer([
            "/list.txt": .answer(body: PhotoListReaderTests.text),
            "/list.gz": .answer(body: gzipped(PhotoListReaderTests.text)),
            "/moved": .redirect(to: "/list.txt"),
            "/list.csv": .answer(body: Array("http://a/1?x,Cat\n".utf8)),
        ])
        defer { server.stop() }
        for path in ["/list.txt", "/list.gz", "/moved"] {
            let reader = try PhotoListReader(server.url(path))
            for _ in 1...2 {
                #expect(try all(reader).map(\.url) == PhotoListReaderTests.urls)
                try reader.rewind()
            }
        }
        // The ending of the URL's path decides the format, as for a file; the query does not count.
        #expect(try all(PhotoListReader(server.url("/list.csv"))).map(\.name) == ["Cat"])
    }

    /// The list of somebody who is not trusted must not occupy the program for ever.
    @Test func limitsEndTheReading() throws {
        let drip = HostileServer.Route.drip(body: [UInt8](repeating: UInt8(ascii: "#"), count: 100), pause: .seconds(1))
        let server = try HostileServer([
            "/drip": drip, "/list.txt": .answer(body: PhotoListReaderTests.text),
            "/list.json": .answer(body: Array(#"[{"url": "http://photos.example/1.jpg"}]"#.utf8)),
        ])
        defer { server.stop() }
        func read(_ path: String, _ limits: ListLimits) throws -> [PhotoListEntry] {
            var options = ListOptions()
            options.limits = limits
            return try all(PhotoListReader(server.url(path), options))
        }
        var limits = ListLimits { false }
        #expect(try read("/list.txt", limits).map(\.url) == PhotoListReaderTests.urls)
        limits.patience = .milliseconds(100)
        let slow = try requireError(PhotoListError.self) { try read("/drip", limits) }
        #expect(slow.code == .unreadable && slow.description.contains("too slow"), "\(slow)")
        limits.patience = .seconds(10)
        limits.longestWait = .zero
        let endless = try requireError(PhotoListError.self) { try read("/drip", limits) }
        #expect(endless.code == .unreadable && endless.description.contains("too slow"), "\(endless)")
        limits = ListLimits { false }
        limits.maxBytes = 50
        let large = try requireError(PhotoListError.self) { try read("/drip", limits) }
        #expect(large.code == .tooLarge, "\(large)")
        limits.maxWholeBytes = 20
        let whole = try requireError(PhotoListError.self) { try read("/list.json", limits) }
        #expect(whole.code == .tooLarge && whole.description.contains("JSONL"), "\(whole)")
        let stopped = try requireError(PhotoListError.self) { try read("/drip", ListLimits { true }) }
        #expect(stopped.code == .unreadable && stopped.description.contains("stopped"), "\(stopped)")
    }

    @Test func fetchesAListOnce() throws {
        let server = try HostileServer(["/list.txt": .answer(body: PhotoListReaderTests.text)])
        defer { server.stop() }
        let reader = try PhotoListReader(server.url("/list.txt"))
        _ = try all(reader)
        try reader.rewind()
        _ = try all(reader)
        #expect(server.log.requests["/list.txt"] == 1)
    }

    @Test func errorSaysWhyAListWasNotFetched() throws {
        let server = try HostileServer([
            "/cut": .closeHalfWay(body: PhotoListReaderTests.text, declared: 10_000_000),
            "/page": .answer(body: Array("<!DOCTYPE html><html></html>".utf8)),
        ])
        defer { server.stop() }
        for (path, code, found) in [
            ("/none?key=secret#secret", .notFound, "404"), ("/no ne%?key=secret", .notFound, "404"),
            ("/cut", .unreadable, "fetching it failed"),
            ("/page", .notAList, "HTML"),
        ] as [(String, PhotoListError.Code, String)] {
            let error = try requireError(PhotoListError.self) { try all(PhotoListReader(server.url(path))) }
            #expect(error.code == code, "\(error)")
            #expect(error.description.contains(found), "\(error)")
            #expect(error.description.contains(":\(server.port)/") && !error.description.contains("secret"))
        }
    }

    @Test(.enabled(if: NetworkNamespace.isAvailable, "requires root and the ip program"))
    func followsNoRedirectFromTheInternetToAPrivateAddress() async throws {
        try await NetworkNamespace.run {
            let inside = try EveryAddressServer { _ in EveryAddressServer.body("http://inside.example/secret.jpg\n") }
            let outside = try EveryAddressServer { path in
                let host = path.dropFirst().prefix { $0 != "?" }
                return host == "list"
                    ? EveryAddressServer.body("http://a.example/1.jpg\n")
                    : EveryAddressServer.redirect(to: "http://\(host):\(inside.port)/list")
            }
            for host in ["169.254.169.254", "10.0.0.1", "127.0.0.1", "[::1]", "[fd00:ec2::254]"] {
                let error = expectError(PhotoListError.self) {
                    try PhotoListReader("http://ann:pass@8.8.8.8:\(outside.port)/\(host)?key=secret")
                }
                let text = error?.description ?? ""
                #expect(text.contains("is not an address of the public internet, but the redirect comes from"))
                #expect(!text.contains("pass") && !text.contains("secret"), "\(text)")
            }
            #expect(inside.connections.isEmpty)
            // A URL that the user gives may have a private address, and may redirect to private and public addresses.
            for (from, to) in [("10.0.0.1", "127.0.0.1"), ("127.0.0.1", "8.8.8.8"), ("8.8.8.8", "1.1.1.1")] {
                let reader = try PhotoListReader("http://\(from):\(outside.port)/\(to)")
                #expect(try all(reader).map(\.name) == ["secret.jpg"], "\(from) to \(to)")
            }
            #expect(try all(PhotoListReader("http://10.0.0.1:\(outside.port)/list")).map(\.name) == ["1.jpg"])
        }
    }

    @Test func closesTheConnectionOfAListThatIsNotReadToItsEnd() async throws {
        let server = try HostileServer(["/endless": .endless])
        defer { server.stop() }
        let error = expectError(PhotoListError.self) { try PhotoListReader(server.url("/endless")) }
        #expect(error?.code == .notAList)
        #expect(await server.wait { $0.departures["/endless"] == 1 })
    }
}
