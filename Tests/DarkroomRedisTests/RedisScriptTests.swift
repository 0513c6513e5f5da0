import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// SCRIPT FLUSH affects all clients of a server, so these tests do not share their server with other suites.
@Suite(.redisServer, .serialized) struct RedisScriptTests {
    let redis = RedisServer.current
    let append = RedisScript(
        name: "append", source: Array("return redis.call('RPUSH', KEYS[1], ARGV[1])".utf8))

    @Test func computesTheSameSHA1AsTheServer() throws {
        let connection = RedisConnection(redis.configuration)
        let scripts = [
            append, RedisScript(name: "long", source: Array("return '\(String(repeating: "é", count: 99))'".utf8)),
        ]
        for script in scripts {
            let load = RedisCommand(arguments: [Array("SCRIPT".utf8), Array("LOAD".utf8), script.source])
            #expect(try connection.call(load).string == script.sha1)
        }
    }

    @Test func sendsALostScriptAgain() throws {
        let connection = RedisConnection(redis.configuration, scripts: [append])
        let key = redis.namespace()
        let calls = (1...50).map { append.command(keys: [Array(key.utf8)], arguments: [Array("\($0)".utf8)]) }
        let results = connection.call(
            [RedisCommand("SCRIPT", "FLUSH"), RedisCommand("ECHO", "a")] + calls + [RedisCommand("ECHO", "b")])
        #expect(results[0] == .success(.status("OK")))
        #expect(results[1] == .success(.bytes(Array("a".utf8))))
        #expect(Array(results[2..<52]) == (1...50).map { .success(.integer($0)) })
        #expect(results[52] == .success(.bytes(Array("b".utf8))))
        let list = try connection.call(RedisCommand("LRANGE", key, "0", "-1")).array?.compactMap(\.int)
        #expect(list == Array(1...50), "the calls ran in another order")
        #expect(try connection.call(RedisCommand("SCRIPT", "EXISTS", append.sha1)) == .array([.integer(1)]))
    }

    @Test func keepsTheOrderOfCallsWhileAScriptIsLost() throws {
        let connection = RedisConnection(redis.configuration, scripts: [append])
        let key = redis.namespace()
        _ = try connection.call(RedisCommand("SCRIPT", "FLUSH"))
        let left = DispatchGroup()
        for number in 1...5000 {
            left.enter()
            let call = append.command(keys: [Array(key.utf8)], arguments: [Array("\(number)".utf8)])
            connection.send([call]) { _ in left.leave() }
        }
        try #require(left.wait(timeout: .now() + 20) == .success, "a call received no reply")
        let list = try connection.call(RedisCommand("LRANGE", key, "0", "-1")).array?.compactMap(\.int)
        #expect(list == Array(1...5000))
    }

    @Test func errorNamesTheScript() throws {
        let fail = RedisScript(name: "fail", source: Array("return redis.error_reply('NOPE because')".utf8))
        let connection = RedisConnection(redis.configuration, scripts: [fail])
        let error = try requireError(RedisError.self) { try connection.call(fail.command(keys: [])) }
        #expect(error.description.hasPrefix("script \"fail\" on unix://"))
        #expect(error.serverErrorName == "NOPE")
    }

    @Test func connectFailsWithAScriptThatIsNotLua() throws {
        let wrong = RedisScript(name: "wrong", source: Array("retrun 1".utf8))
        let connection = RedisConnection(redis.configuration, scripts: [wrong])
        let error = try requireError(RedisError.self) { try connection.connect() }
        #expect(error.code == .server)
        #expect(error.description.contains("\"wrong\""))
        #expect(error.description.contains("compiling"))
    }

    @Test func unknownScriptIsAnErrorOfTheCaller() throws {
        let connection = RedisConnection(redis.configuration)
        let error = try requireError(RedisError.self) {
            try connection.call(RedisCommand("EVALSHA", String(repeating: "0", count: 40), "0"))
        }
        #expect(error.serverErrorName == "NOSCRIPT")
    }
}
