import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTransfer

/// Tests which addresses the engine connects to, by the connections that the listening socket accepts.
@Suite(.timeLimit(.minutes(5))) struct AddressDenialTests {
    @Test(arguments: [
        "127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.1", "127.1", "0.0.0.0", "0", "%31%32%37.1",
        "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    ])
    func connectsToThisMachineOnlyIfAllowed(host: String) async throws {
        let server = try EveryAddressServer { _ in EveryAddressServer.body("a") }
        let url = "http://\(host):\(server.port)/a"
        let error = await TransferEngine(TransferConfiguration()).fetch(url).error
        #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
        #expect(error?.attempts == 1)
        #expect(server.connections.isEmpty)
        // The control: without the check, the same URL can be fetched, so the check caused the refusal. No kernel
        // routes ::127.0.0.1.
        guard host != "[::127.0.0.1]" else { return }
        #expect(await TransferEngine(.local()).fetch(url).body == Array("a".utf8))
        #expect(server.connections.values.reduce(0, +) == 1)
    }

    @Test func checksTheAddressAgainBeforeAConnectionIsReused() async throws {
        let server = try EveryAddressServer { _ in EveryAddressServer.body("a") }
        let asked = Locked(0)
        // Allows the connection and its first request, not the second request.
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

    @Test func connectsToAnAllowedNetworkOnly() async throws {
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
        // Connections are accepted in order, so an earlier connection would be counted by now.
        #expect(await TransferEngine(.local()).fetch("http://127.0.0.4:\(server.port)/a").body == Array("a".utf8))
        #expect(server.connections.keys.sorted() == ["::ffff:127.0.0.2", "::ffff:127.0.0.4"])
    }
}

/// A URL that a user gives may have any address; its redirects are restricted. In these tests 127.0.0.8 and 127.0.0.9
/// count as public.
@Suite(.timeLimit(.minutes(5))) struct StartAnywhereTests {
    private let server: EveryAddressServer

    init() throws {
        // `/<host>/<host>/...` redirects to each host in turn.
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
    func redirectMayLeadToThePublicInternet(host: Int, path: String) async {
        #expect(await fetch(path, from: host).body == Array("a".utf8))
    }

    @Test(arguments: [(8, "/2/end", 1), (8, "/9/2/end", 2), (2, "/8/3/end", 2), (2, "/8/2/end", 2)])
    func redirectMayNotLeadBackFromThePublicInternet(host: Int, path: String, dialled: Int) async {
        let error = await fetch(path, from: host).error
        #expect(error?.code == .addressDenied)
        #expect(error?.detail.contains("but the redirect comes from the public internet") == true)
        #expect(server.connections.values.reduce(0, +) == dialled)
    }

    @Test func redirectsOfOneTransferDoNotRestrictTheNext() async {
        var configuration = TransferConfiguration()
        configuration.mayStartAnywhere = true
        let engine = TransferEngine(configuration) { $0.description == "127.0.0.8" }
        for host in [8, 2, 8, 2] {
            #expect(await engine.fetch("http://127.0.0.\(host):\(server.port)/end").body == Array("a".utf8))
        }
    }
}

/// Which addresses the engine connects to in a network namespace in which every address of the internet is local.
@Suite(.timeLimit(.minutes(5)), .enabled(if: NetworkNamespace.isAvailable, "requires root and the ip program"))
struct AddressDenialInANamespaceTests {
    /// `host` is the host of a URL; `dialled` is the address that the system would connect to, or nil if none.
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

    @Test func connectsToNoDeniedAddressDirectlyOrByARedirect() async throws {
        try await NetworkNamespace.run {
            let locations = Self.denied.map(\.host)
            let server = try EveryAddressServer { path in
                guard let number = Int(path.dropFirst()) else { return EveryAddressServer.body("a") }
                return EveryAddressServer.redirect(to: "http://\(locations[number])/end")
            }
            let port = server.port
            // The redirects lead to port 80; `connectTo` maps this port to the port of the server.
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
            // Connections are accepted in order, so an earlier connection would be counted by now.
            #expect(guarded.fetchHere("http://1.1.1.1/a").body == Array("a".utf8))
            #expect(Set(server.connections.keys) == Set(before.keys).union(["::ffff:1.1.1.1"]))

            // The control: if every address is allowed, the listener receives each of these connections.
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

    @Test func addressOfANameIsCheckedAtEachLookup() async throws {
        try await NetworkNamespace.run {
            let hosts = FileManager.default.temporaryDirectory.appending(path: "darkroom-hosts-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: hosts) }
            @Sendable func point(_ addresses: String...) throws {
                // Overwrites the file in place, because this file is mounted.
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
                // Before the redirect, the name gets another address. The redirect has another port, so the engine
                // looks up the name again.
                try? point("169.254.169.254")
                return EveryAddressServer.redirect(to: "http://moving.example:\(port)/b")
            }
            try point("8.8.8.8")
            let error = TransferEngine(TransferConfiguration()).fetchHere("http://moving.example:\(first.port)/a").error
            #expect(error?.code == .addressDenied, "\(error?.detail ?? "no error")")
            #expect(error?.detail.contains("169.254.169.254") == true)
            #expect(first.connections == ["::ffff:8.8.8.8": 1])
            #expect(second.connections.isEmpty)

            // If a name has a denied and a public address, the engine connects to the public one.
            try point("10.0.0.1", "8.8.4.4")
            let fetched = TransferEngine(TransferConfiguration()).fetchHere("http://moving.example:\(port)/b")
            #expect(fetched.body == Array("b".utf8), "\(fetched)")
            #expect(second.connections == ["::ffff:8.8.4.4": 1])
        }
    }
}

extension TransferEngine {
    /// Fetches and blocks until the result arrives.
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
