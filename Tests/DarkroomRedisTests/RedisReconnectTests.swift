import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Connections whose server stops. Each test has its own server.
@Suite struct RedisReconnectTests {
    let script = RedisScript(name: "twice", source: Array("return ARGV[1] * 2".utf8))

    @Test func failsCommandsInFlightAndLoadsItsScriptsAfterARestart() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let connection = RedisConnection(redis.configuration, scripts: [script])
        let call = script.command(keys: [], arguments: [Array("21".utf8)])
        #expect(try connection.call(call) == .integer(42))

        let answers = Answers(of: [RedisCommand("PING"), RedisCommand("BLPOP", "none", "0"), call], on: connection)
        let observer = RedisConnection(redis.configuration)
        try waitUntilBlocked(1, on: observer)
        redis.terminate()
        let results = try answers.wait()
        #expect(results[0] == .success(.status("PONG")), "a reply that had arrived was lost")
        for result in results[1...] {
            let error = try requireError(RedisError.self) { try result.get() }
            #expect(error.code == .disconnected)
        }

        let error = try requireError(RedisError.self) { try connection.call(call) }
        #expect(error.code == .cannotConnect)

        try redis.restart()
        // The restarted server had no scripts and got no EVALSHA, so the connection loaded the script on reconnecting.
        #expect(try connection.call(RedisCommand("SCRIPT", "EXISTS", script.sha1)) == .array([.integer(1)]))
        #expect(try connection.call(call) == .integer(42))
    }

    @Test func reconnectsAfterItsConnectionWasKilled() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let connection = RedisConnection(redis.configuration)
        let identity = try #require(try connection.call(RedisCommand("CLIENT", "ID")).int)
        let other = RedisConnection(redis.configuration)
        #expect(try other.call(RedisCommand("CLIENT", "KILL", "ID", "\(identity)")) == .integer(1))

        // The connection may notice the loss before the first command, or only with this command.
        let first = connection.call([RedisCommand("CLIENT", "ID")])[0]
        if case .failure(let error) = first { #expect(error.code == .disconnected) }
        let now = try #require(try connection.call(RedisCommand("CLIENT", "ID")).int)
        #expect(now > identity)
    }

    @Test func failsAllCommandsWhileTheServerIsStopped() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let connection = RedisConnection(redis.configuration)
        redis.terminate()
        for answers in (0..<20).map({ _ in Answers(of: [RedisCommand("PING")], on: connection) }) {
            let results = try answers.wait()
            let error = try requireError(RedisError.self) { try results[0].get() }
            #expect(error.code == .cannotConnect)
        }
    }

    @Test func errorSaysWhyAServerProcessDoesNotStart() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let error = try requireError(RedisError.self) { try RedisServer(arguments: ["--maxmemory", "lots"]) }
        #expect(error.code == .cannotStartServer)
        #expect(error.message.contains("maxmemory"))

        let long = redis.folder + "/" + String(repeating: "x", count: 100)
        let tooLong = try requireError(RedisError.self) {
            try RedisServerProcess(socketPath: long, folder: redis.folder)
        }
        #expect(tooLong.message.contains("107"))
    }

    @Test func serverProcessIsReadyWhenItHasLoadedItsData() throws {
        // Loading takes a second (200 µs per key). After every 1,024 keys, the server replies to PING with LOADING.
        let redis = try RedisServer(arguments: [
            "--appendonly", "yes", "--appendfsync", "no", "--key-load-delay", "200",
        ])
        defer { redis.stop() }
        let connection = RedisConnection(redis.configuration)
        let stored = connection.call(
            (0..<5000).map { RedisCommand("SET", "key\($0)", "value") })
        #expect(stored.allSatisfy { $0 == .success(.status("OK")) })
        redis.terminate()
        try redis.restart()
        #expect(try RedisConnection(redis.configuration).call(RedisCommand("DBSIZE")) == .integer(5000))
    }

    @Test func serverProcessHasEndedWhenTerminateReturns() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let identifier = redis.processIdentifier
        #expect(kill(identifier, 0) == 0)
        redis.terminate()
        #expect(kill(identifier, 0) == -1)
        redis.terminate()
    }
}
