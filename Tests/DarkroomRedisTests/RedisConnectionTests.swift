import DarkroomConcurrency
import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@Suite(.redisServer) struct RedisConnectionTests {
    let redis = RedisServer.current
    let connection = RedisConnection(RedisServer.current.configuration)

    @Test func performsCommandsAndPipelines() throws {
        let key = redis.namespace()
        #expect(try connection.call(RedisCommand("SET", key, "41")) == .status("OK"))
        #expect(try connection.call(RedisCommand("INCR", key)).int == 42)
        let results = connection.call([RedisCommand("GET", key), RedisCommand("GET", key + "-missing")])
        #expect(results == [.success(.bytes(Array("42".utf8))), .success(.null)])
        #expect(connection.call([]) == [])
    }

    @Test func transfersArbitraryBytesUnchanged() throws {
        let key = Array(redis.namespace().utf8) + [0, 13, 10, 255]
        let value = (0..<1000).map { UInt8(truncatingIfNeeded: $0) } + Array("\r\n$5\r\n*1\r\n".utf8)
        for value in [value, []] {
            let set = RedisCommand(arguments: [Array("SET".utf8), key, value])
            #expect(try connection.call(set) == .status("OK"))
            #expect(try connection.call(RedisCommand(arguments: [Array("GET".utf8), key])) == .bytes(value))
        }
    }

    @Test func transfersLargeValues() throws {
        let key = redis.namespace()
        var generator = SystemRandomNumberGenerator()
        var value = [UInt8](repeating: 0, count: 10 << 20)
        value.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count / 8 {
                bytes.storeBytes(of: generator.next(), toByteOffset: index * 8, as: UInt64.self)
            }
        }
        let set = RedisCommand(arguments: [Array("SET".utf8), Array(key.utf8), value])
        let results = connection.call([set, RedisCommand("STRLEN", key), RedisCommand("GET", key), set])
        #expect(results[0] == .success(.status("OK")))
        #expect(results[1] == .success(.integer(value.count)))
        let isUnchanged = try results[2].get().bytes == value
        #expect(isUnchanged)
        #expect(results[3] == .success(.status("OK")))
    }

    @Test func readsNestedReplies() throws {
        let script =
            "return {1, 'two', false, {redis.status_reply('OK'), {}, {'deep', {3}}}, redis.error_reply('MY no')}"
        let reply = try connection.call(RedisCommand("EVAL", script, "0"))
        let two = RedisValue.bytes(Array("two".utf8))
        let deep = RedisValue.array([.bytes(Array("deep".utf8)), .array([.integer(3)])])
        #expect(
            reply
                == .array([.integer(1), two, .null, .array([.status("OK"), .array([]), deep]), .error("MY no")]))
        #expect(reply.array?[3].array?[0].string == "OK")
    }

    @Test func sendsAPipelineOf100000Commands() {
        let key = redis.namespace()
        let results = connection.call(Array(repeating: RedisCommand("INCR", key), count: 100_000))
        #expect(results.count == 100_000)
        let firstWrong = results.indices.first { results[$0] != .success(.integer($0 + 1)) }
        #expect(firstWrong == nil)
    }

    @Test func keepsTheOrderOfRepliesWhenManyThreadsSend() throws {
        let wrong = Locked<[String]>([])
        let left = DispatchGroup()
        for thread in 0..<8 {
            left.enter()
            Thread {
                for round in 0..<200 {
                    let texts = (0..<(round % 7) + 1).map { "\(thread).\(round).\($0)" }
                    let results = connection.call(texts.map { RedisCommand("ECHO", $0) })
                    if results != texts.map({ .success(.bytes(Array($0.utf8))) }) {
                        wrong.withLock { $0.append("\(texts): \(results)") }
                    }
                }
                left.leave()
            }.start()
        }
        try #require(left.wait(timeout: .now() + 60) == .success, "the threads did not end")
        #expect(wrong.withLock { $0 } == [])
    }

    @Test func callsCompletionsInTheOrderOfTheCalls() throws {
        let order = Locked<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 0..<1000 {
            connection.send([RedisCommand("PING")]) { _ in
                order.withLock { $0.append(number) }
                if number == 999 { done.signal() }
            }
        }
        try #require(done.wait(timeout: .now() + 20) == .success, "the last completion was not called")
        #expect(order.withLock { $0 } == Array(0..<1000))
    }

    @Test func onlyTheRefusedCommandFails() throws {
        let key = redis.namespace()
        let results = connection.call([
            RedisCommand("SET", key, "text"), RedisCommand("INCR", key), RedisCommand("GET", key),
        ])
        #expect(results[0] == .success(.status("OK")))
        #expect(results[2] == .success(.bytes(Array("text".utf8))))
        let error = try requireError(RedisError.self) { try results[1].get() }
        #expect(error.code == .server)
        #expect(error.serverErrorName == "ERR")
        #expect(error.description.contains("INCR on unix://"))
        #expect(error.description.contains("not an integer"))
    }

    @Test func commandsAfterClosingFail() throws {
        let connection = RedisConnection(redis.configuration)
        try connection.connect()
        connection.close()
        connection.close()
        let error = try requireError(RedisError.self) { try connection.call(RedisCommand("PING")) }
        #expect(error.code == .closed)
    }

    @Test func closingFailsCommandsInFlight() throws {
        let connection = RedisConnection(redis.configuration)
        try connection.connect()
        let answers = Answers(of: [RedisCommand("BLPOP", redis.namespace(), "0")], on: connection)
        connection.close()
        let results = try answers.wait()
        let error = try requireError(RedisError.self) { try results[0].get() }
        #expect(error.code == .closed)
    }

    @Test func canBeClosedInsideACompletion() async throws {
        let connection = RedisConnection(redis.configuration)
        await withCheckedContinuation { continuation in
            connection.send([RedisCommand("PING")]) { _ in
                connection.close()
                continuation.resume()
            }
        }
        #expect(throws: RedisError.self) { try connection.call(RedisCommand("PING")) }
    }

    @Test func timesOutOnASilentServer() throws {
        var configuration = redis.configuration
        configuration.replyTimeout = .seconds(2)
        let connection = RedisConnection(configuration)
        let error = try requireError(RedisError.self) {
            try connection.call(RedisCommand("BLPOP", redis.namespace(), "0"))
        }
        #expect(error.code == .timedOut)
        #expect(try connection.call(RedisCommand("PING")) == .status("PONG"))
    }

    @Test func selectsTheDatabase() throws {
        var configuration = redis.configuration
        configuration.database = 3
        let key = redis.namespace()
        let other = RedisConnection(configuration)
        _ = try other.call(RedisCommand("SET", key, "x"))
        #expect(try connection.call(RedisCommand("EXISTS", key)) == .integer(0))
        #expect(try other.call(RedisCommand("EXISTS", key)) == .integer(1))
    }
}
