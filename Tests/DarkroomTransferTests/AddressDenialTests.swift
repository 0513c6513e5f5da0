import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// What is dialled, seen at the listening socket and not at the reply.
@Suite(.timeLimit(.minutes(2))) struct AddressDenialTests {
    @Test(arguments: [
        "127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.1", "127.1", "0.0.0.0", "0", "%31%32%37.1",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    ])
    func dialsNothingOnThisMachineUnlessAllowed(host: String) async throws {
        let server = try EveryAddressServer { _ in EveryAddressServer.body("a") }
        let url = "http://\(host):\(server.port)/a"
        let error = await TransferEngine(TransferConfiguration()).fetch(url).error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        #expect(server.connections.isEmpty)
        // The same is dialled when it may be, so it was not for another reason that nothing came. No kernel routes ::127.0.0.1.
        guard host != "[::127.0.0.1]" else { return }
        #expect(await TransferEngine(.local()).fetch(url).body == Array("a".utf8))
        #expect(server.connections.values.reduce(0, +) == 1)
    }

    @Test func asksAgainBeforeAConnectionIsUsedAgain() async throws {
        let server = try EveryAddressServer { _ in EveryAddressServer.body("a") }
        let asked = Locked(0)
        // The connection, its first request; not the second.
        let engine = TransferEngine(.local()) { _ in
            asked.withLock { count in
                count += 1
                return count <= 2
            }
        }
        let url = "http://127.0.0.1:\(server.port)/a"
        #expect(await engine.fetch(url).body == Array("a".utf8))
        let error = await engine.fetch(url).error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
        #expect(server.connections.values.reduce(0, +) == 1)
        #expect(server.requests == 1)
    }

    @Test func dialsAnAllowedNetworkAndNoOther() async throws {
        let server = try EveryAddressServer { path in
            path == "/a"
                ? EveryAddressServer.body("a")
                : EveryAddressServer.redirect(to: "http://127.0.0.3:\(path.dropFirst())/")
        }
        var configuration = TransferConfiguration()
        configuration.allowedNetworks = [try NetworkRange(parsing: "127.0.0.2/32")]
        let engine = TransferEngine(configuration)
        #expect(await engine.fetch("http://127.0.0.2:\(server.port)/a").body == Array("a".utf8))
        let error = await engine.fetch("http://127.0.0.2:\(server.port)/\(server.port)").error
        #expect(error?.code == .addressDenied)
        #expect(error?.detail.contains("127.0.0.3") == true, "\(error?.detail ?? "no error")")
        // Connections are taken in the order they came, so when this one was, others would have been.
        #expect(await TransferEngine(.local()).fetch("http://127.0.0.4:\(server.port)/a").body == Array("a".utf8))
        #expect(server.connections.keys.sorted() == ["::ffff:127.0.0.2", "::ffff:127.0.0.4"])
    }
}

/// A URL that may lie anywhere, since a user has named it, and where its redirects may lead. What of this machine's addresses
/// is "public" is the test's to say.
@Suite(.timeLimit(.minutes(2))) struct StartAnywhereTests {
    private let server: EveryAddressServer

    init() throws {
        // `/<host>/<host>/...`: a redirect to each in turn.
        let own = Locked(UInt16(0))
        let server = try EveryAddressServer { path in
            let hosts = path.split(separator: "/")
            guard let next = hosts.first, next != "end" else { return EveryAddressServer.body("a") }
            let rest = hosts.dropFirst().joined(separator: "/")
            return EveryAddressServer.redirect(to: "http://127.0.0.\(next):\(own.withLock { $0 })/\(rest)")
        }
        own.withLock { $0 = server.port }
        self.server = server
    }

    private func fetch(_ path: String, from host: Int) async -> Result<Download, TransferError> {
        var configuration = TransferConfiguration()
        configuration.mayStartAnywhere = true
        configuration.retries = 0
        let isPublic: @Sendable (IPAddress) -> Bool = { ["127.0.0.8", "127.0.0.9"].contains($0.description) }
        let engine = TransferEngine(configuration, allows: isPublic)
        return await engine.fetch("http://127.0.0.\(host):\(server.port)\(path)")
    }

    @Test(arguments: [(2, "/end"), (8, "/end"), (2, "/3/end"), (2, "/8/end"), (8, "/9/end"), (2, "/3/8/9/end")])
    func leadsOnToTheInternet(host: Int, path: String) async {
        #expect(await fetch(path, from: host).body == Array("a".utf8))
    }

    @Test(arguments: [(8, "/2/end", 1), (8, "/9/2/end", 2), (2, "/8/3/end", 2), (2, "/8/2/end", 2)])
    func leadsNotBackFromThere(host: Int, path: String, dialled: Int) async {
        let error = await fetch(path, from: host).error
        #expect(error?.code == .addressDenied)
        #expect(error?.detail.contains("but the redirect comes from the public internet") == true)
        #expect(server.connections.values.reduce(0, +) == dialled)
    }

    @Test func everyTransferBeginsAnew() async {
        var configuration = TransferConfiguration()
        configuration.mayStartAnywhere = true
        let engine = TransferEngine(configuration) { $0.description == "127.0.0.8" }
        for host in [8, 2, 8, 2] {
            #expect(await engine.fetch("http://127.0.0.\(host):\(server.port)/end").body == Array("a".utf8))
        }
    }
}

/// What is dialled in a network of the test's own, where every address of the internet is this machine's.
@Suite(.timeLimit(.minutes(2)), .enabled(if: NetworkNamespace.isAvailable, "needs root and the ip program"))
struct AddressDenialInANamespaceTests {
    /// As a URL writes them; what is dialled for it, where the system dials it at all.
    private static let denied: [(host: String, dialled: String?)] = [
        ("0.1.2.3", "::ffff:0.1.2.3"), ("10.0.0.1", "::ffff:10.0.0.1"), ("0x0a.1", "::ffff:10.0.0.1"),
        ("100.64.0.1", "::ffff:100.64.0.1"), ("127.0.0.1", "::ffff:127.0.0.1"), ("127.8.8.8", "::ffff:127.8.8.8"),
        ("169.254.169.254", "::ffff:169.254.169.254"), ("2852039166", "::ffff:169.254.169.254"),
        ("0xa9fea9fe", "::ffff:169.254.169.254"), ("0251.0376.0251.0376", "::ffff:169.254.169.254"),
        ("169.254.43518", "::ffff:169.254.169.254"), ("[::ffff:169.254.169.254]", "::ffff:169.254.169.254"),
        ("[::ffff:a9fe:a9fe]", "::ffff:169.254.169.254"), ("172.16.0.1", "::ffff:172.16.0.1"),
        ("192.0.0.8", "::ffff:192.0.0.8"), ("192.0.2.1", "::ffff:192.0.2.1"), ("192.168.1.1", "::ffff:192.168.1.1"),
        ("198.18.0.1", "::ffff:198.18.0.1"), ("198.51.100.1", "::ffff:198.51.100.1"),
        ("203.0.113.1", "::ffff:203.0.113.1"),
        ("224.0.0.1", nil), ("240.0.0.1", nil), ("255.255.255.255", nil), ("[::1]", "::1"),
        ("[::7f00:1]", "::127.0.0.1"), ("[::a9fe:a9fe]", "::169.254.169.254"),
        ("[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe"), ("[64:ff9b:1::a9fe:a9fe]", "64:ff9b:1::a9fe:a9fe"),
        ("[2002:a9fe:a9fe::]", "2002:a9fe:a9fe::"),
        ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2606:4700::5efe:7f00:1]", "2606:4700::5efe:7f00:1"),
        ("[fc00::1]", "fc00::1"), ("[fd00:ec2::254]", "fd00:ec2::254"), ("[fe80::1%25lo]", "fe80::1"),
        ("[fec0::1]", "fec0::1"), ("[ff02::1%25lo]", nil), ("[100::1]", "100::1"), ("[5f00::1]", "5f00::1"),
    ]

    @Test func nothingDeniedIsDialledDirectlyOrByARedirect() async throws {
        try await NetworkNamespace.run {
            let locations = Self.denied.map(\.host)
            let server = try EveryAddressServer { path in
                guard let number = Int(path.dropFirst()) else { return EveryAddressServer.body("a") }
                return EveryAddressServer.redirect(to: "http://\(locations[number])/end")
            }
            let port = server.port
            // Redirects have no port of their own in the list: connect-to brings them to the server's.
            var configuration = TransferConfiguration()
            configuration.retries = 0
            configuration.connectTo = [":80::\(port)"]
            let guarded = TransferEngine(configuration)
            for host in ["8.8.8.8", "[2606:4700::1111]", "[64:ff9b::808:808]", "[2002:808:808::1]"] {
                #expect(guarded.fetchHere("http://\(host)/a").body == Array("a".utf8), "\(host) is public")
            }
            let before = server.connections
            #expect(before.count == 4)
            for (number, target) in Self.denied.enumerated() {
                for url in ["http://\(target.host)/a", "http://8.8.8.8/\(number)"] {
                    let error = guarded.fetchHere(url).error
                    #expect(error?.code == .addressDenied, "\(target.host): \(error?.detail ?? "no error")")
                }
            }
            // Connections are taken in the order they came, so when this one was, the others would have been.
            #expect(guarded.fetchHere("http://1.1.1.1/a").body == Array("a".utf8))
            #expect(Set(server.connections.keys) == Set(before.keys).union(["::ffff:1.1.1.1"]))

            // The control: with everything allowed each of them is dialled, so the listener would have seen it.
            configuration.allowPrivate = true
            let unguarded = TransferEngine(configuration)
            for (number, target) in Self.denied.enumerated() where target.dialled != nil {
                let control = server.connections[target.dialled ?? "", default: 0]
                #expect(unguarded.fetchHere("http://8.8.8.8/\(number)").body == Array("a".utf8), "\(target.host)")
                _ = unguarded.fetchHere("http://\(target.host)/a")
                #expect(server.connections[target.dialled ?? "", default: 0] + control > 0, "\(target)")
            }
        }
    }

    @Test func aNameThatChangesItsMindIsCheckedWhereItLeads() async throws {
        try await NetworkNamespace.run {
            let hosts = FileManager.default.temporaryDirectory.appending(path: "darkroom-hosts-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: hosts) }
            @Sendable func point(_ addresses: String...) throws {
                // Over the bytes of the same file, which is the one that is mounted.
                let handle = try FileHandle(forWritingTo: hosts)
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: Data(addresses.map { "\($0) moving.example\n" }.joined().utf8))
                try handle.close()
            }
            try Data().write(to: hosts)
            try #require(NetworkNamespace.replace("/etc/hosts", by: hosts))
            let second = try EveryAddressServer { _ in EveryAddressServer.body("b") }
            let port = second.port
            let first = try EveryAddressServer { _ in
                // While the answer to the first look-up is on its way, the name moves. Another port is another look-up.
                try? point("169.254.169.254")
                return EveryAddressServer.redirect(to: "http://moving.example:\(port)/b")
            }
            try point("8.8.8.8")
            let error = TransferEngine(TransferConfiguration()).fetchHere("http://moving.example:\(first.port)/a").error
            #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
            #expect(error?.detail.contains("169.254.169.254") == true)
            #expect(first.connections == ["::ffff:8.8.8.8": 1])
            #expect(second.connections.isEmpty)

            // A name with a denied and a public address leads to the public one.
            try point("10.0.0.1", "8.8.4.4")
            let fetched = TransferEngine(TransferConfiguration()).fetchHere("http://moving.example:\(port)/b")
            #expect(fetched.body == Array("b".utf8), "\(fetched)")
            #expect(second.connections == ["::ffff:8.8.4.4": 1])
        }
    }
}

extension TransferEngine {
    /// Fetches and waits, on a thread that may block.
    fileprivate func fetchHere(_ url: String) -> Result<Download, TransferError> {
        let result = Locked<Result<Download, TransferError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        start(url) { found in
            result.withLock { $0 = found }
            isDone.signal()
        }
        isDone.wait()
        return result.withLock { $0 }!  // set before the signal
    }
}
