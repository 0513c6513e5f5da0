import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Real sentinels, a master and two replicas. The master is killed, stopped or demoted.
@Suite struct RedisSentinelTests {
    private enum Fault: CaseIterable {
        /// The process is killed; its machine closes all connections.
        case killed
        /// The process sends nothing and closes nothing, as after a power failure of its machine.
        case silent
        /// An administrator requests a failover; the old master keeps running as a replica.
        case moved
    }

    @Test(arguments: [0, 1, 2]) func worksAgainSoonAfterThePromotion(fault index: Int) throws {
        let fault = Fault.allCases[index]
        let redis = try RedisSentinels()
        defer { redis.stop() }
        var configuration = try RedisConfiguration(url: redis.url)
        // The reply timeout is long, so the connection must notice the failover in another way.
        configuration.replyTimeout = .seconds(60)
        let script = RedisScript(name: "count", source: Array("#!lua\nreturn redis.call('INCR', KEYS[1])".utf8))
        let count = script.command(keys: [Array("n".utf8)])
        let connection = RedisConnection(configuration, scripts: [script])
        #expect(try connection.call(count) == .integer(1))
        #expect(try connection.call(RedisCommand("CONFIG", "GET", "port")).array?.last?.int == redis.ports[0])
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(configuration, channels: ["c"], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        #expect(try connection.call(RedisCommand("WAIT", "2", "5000")) == .integer(2))

        let master = redis.servers[0]
        switch fault {
        case .killed: kill(master.processIdentifier, SIGKILL)
        case .silent: kill(master.processIdentifier, SIGSTOP)
        case .moved:
            let sentinel = RedisConnection(try RedisConfiguration(url: "redis://127.0.0.1:\(redis.sentinelPorts[1])"))
            let reply = try sentinel.call(RedisCommand("SENTINEL", "FAILOVER", RedisSentinels.service))
            #expect(reply == .status("OK"))
        }
        defer { kill(master.processIdentifier, SIGCONT) }
        // A command is in flight when the master stops; until it ends, the connection sends no other command.
        let inFlight = fault == .silent ? Answers(of: [RedisCommand("PING")], on: connection) : nil
        try waitUntil("a replica is promoted", within: .seconds(90)) { try redis.promoted() != nil }
        if let inFlight {
            let error = try requireError(RedisError.self) { try inFlight.wait()[0].get() }
            #expect(error.code == .disconnected && error.isPassing)
        }
        let promoted = try #require(try redis.promoted())
        var counted: Int?
        try waitUntil("the connection works after the promotion") {
            let results = connection.call([RedisCommand("CONFIG", "GET", "port"), count])
            switch (results[0], results[1]) {
            case (.success(let port), .success(let value)) where port.array?.last?.int == promoted: counted = value.int
            case (_, .failure(let error)): #expect(error.isPassing, "\(error)")
            default: break  // the old master runs and has not been demoted yet
            }
            return counted != nil
        }
        if fault != .moved { #expect(counted == 2, "the replicated value is missing") }

        _ = try events.nextLoss()
        #expect(try events.next() == .subscribed)
        // PUBLISH counts only subscribers at the new master, so 1 means that the subscription is connected to this
        // master.
        #expect(try connection.call(RedisCommand("PUBLISH", "c", "x")) == .integer(1))
        #expect(try events.next() == .message(channel: "c", payload: [120]))
    }

    @Test func asksAnotherSentinelWhenOneIsStoppedAndSendsTheirPassword() throws {
        let redis = try RedisSentinels(
            replicas: 1, sentinels: 3, password: "servers-secret", sentinelPassword: "sentinels-secret")
        defer { redis.stop() }
        redis.sentinels[0].stop()
        var configuration = try RedisConfiguration(url: redis.url + "?sentinel-password=sentinels-secret")
        configuration.password = "servers-secret"
        #expect(try RedisConnection(configuration).call(RedisCommand("SET", "k", "v")) == .status("OK"))

        var wrong = configuration
        wrong.sentinelPassword = nil
        let without = try requireError(RedisError.self) { try RedisConnection(wrong).connect() }
        #expect(without.code == .authenticationFailed && without.description.contains("ask") == false)
        wrong = configuration
        wrong.password = "wrong-secret"
        let denied = try requireError(RedisError.self) { try RedisConnection(wrong).connect() }
        #expect(denied.code == .authenticationFailed)
        for error in [without, denied] { #expect(!error.description.contains("secret")) }

        wrong = configuration
        wrong.address = .sentinels(
            redis.sentinelPorts.map { RedisConfiguration.Endpoint(host: "127.0.0.1", port: $0) }, service: "other")
        let unknown = try requireError(RedisError.self) { try RedisConnection(wrong).connect() }
        #expect(unknown.description.contains("it monitors no service of the name \"other\""))

        for sentinel in redis.sentinels { sentinel.stop() }
        let gone = try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
        #expect(gone.isPassing)
        #expect(gone.description.hasPrefix("find the master of \"\(RedisSentinels.service)\": none of 3 sentinels"))
        #expect(gone.description.contains("Connection refused"))
    }

    @Test func doesNotUseAReplicaAsTheMaster() throws {
        let redis = try RedisSentinels(replicas: 1, sentinels: 1)
        defer { redis.stop() }
        // An administrator makes the master a replica, but the sentinel still names it as the master.
        let administrator = RedisConnection(redis.servers[0].configuration)
        _ = try administrator.call(RedisCommand("REPLICAOF", "127.0.0.1", "1"))
        let error = try requireError(RedisError.self) {
            try RedisConnection(RedisConfiguration(url: redis.url)).connect()
        }
        #expect(error.isPassing)
        #expect(error.message.contains("but it is a replica"))
    }

    /// The certificate has host names, so the sentinel must announce host names.
    @Test func usesTLSForTheSentinelAndTheMaster() throws {
        let certificates = try Certificates()
        let (port, sentinelPort) = (try RedisServer.freePort(), try RedisServer.freePort())
        let tls = [
            "tls-cert-file \(certificates.certificate("server"))", "tls-key-file \(certificates.key("server"))",
            "tls-ca-cert-file \(certificates.authority)", "tls-auth-clients no", "tls-replication yes",
        ]
        let options = (["tls-port \(port)"] + tls).flatMap { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return ["--" + words[0], String(words[1])]
        }
        let master = try RedisServer(arguments: options)
        defer { master.stop() }
        let lines =
            ["port 0", "tls-port \(sentinelPort)", "bind 127.0.0.1", "dir \(master.folder)"] + tls + [
                "sentinel resolve-hostnames yes", "sentinel announce-hostnames yes",
                "sentinel monitor m localhost \(port) 1",
            ]
        let file = master.folder + "/sentinel.conf"
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let sentinel = try BoundProcess(["redis-server", file, "--sentinel"], log: master.folder + "/sentinel.log")
        defer { sentinel.stop() }

        var configuration = try RedisConfiguration(url: "rediss+sentinel://localhost:\(sentinelPort)/m")
        configuration.tls?.authorities = certificates.authority
        let connection = RedisConnection(configuration)
        try waitUntil("the sentinel names the master") {
            connection.call([RedisCommand("SET", "k", "v")])[0] == .success(.status("OK"))
        }
        #expect(try RedisConnection(master.configuration).call(RedisCommand("GET", "k")).string == "v")
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(configuration, channels: ["c"], onEvent: events.add)
        defer { subscription.close() }
        // The first attempt may have failed, because the only sentinel was too slow.
        while try events.next() != .subscribed {}
    }
}
