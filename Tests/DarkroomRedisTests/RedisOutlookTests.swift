import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Tests which errors of a real server are temporary, and after which errors the connection is replaced.
@Suite struct RedisOutlookTests {
    let redis: RedisServer
    let connection: RedisConnection
    let administrator: RedisConnection

    init() throws {
        redis = try RedisServer(arguments: [
            "--enable-debug-command", "local", "--enable-protected-configs", "local",
            "--loading-process-events-interval-bytes", "1024",
        ])
        connection = RedisConnection(redis.configuration)
        administrator = RedisConnection(redis.configuration)
        // Connects in advance, because a replica without its master refuses new connections.
        try administrator.connect()
    }

    @Test func demotedMasterIsDisconnectedAndTriedAgain() throws {
        defer { redis.stop() }
        let before = try #require(try connection.call(RedisCommand("CLIENT", "ID")).int)
        try administer("REPLICAOF", "127.0.0.1", "1")
        let writing = RedisScript(name: "writing", source: Array("#!lua\nreturn redis.call('SET', 'k', 1)".utf8))
        for command in [RedisCommand("SET", "k", "1"), RedisCommand("EVAL", "return redis.call('SET', 'k', 1)", "0")] {
            let error = try failure(of: command)
            #expect(error.serverErrorName == "READONLY" && error.outlook == .passing)
        }
        let scripts = RedisConnection(redis.configuration, scripts: [writing])
        let error = try requireError(RedisError.self) { try scripts.call(writing.command(keys: [])) }
        #expect(error.serverErrorName == "READONLY" && error.isPassing)

        let after = try #require(try connection.call(RedisCommand("CLIENT", "ID")).int)
        #expect(after > before, "the connection was not replaced")
        try administer("REPLICAOF", "NO", "ONE")
        #expect(try connection.call(RedisCommand("SET", "k", "1")) == .status("OK"))
        #expect(try scripts.call(writing.command(keys: [])) == .status("OK"))
    }

    @Test func pipelineIsAnsweredBeforeADemotedMasterIsDisconnected() throws {
        defer { redis.stop() }
        try administer("REPLICAOF", "127.0.0.1", "1")
        let results = connection.call(
            (0..<1000).map { $0 % 2 == 0 ? RedisCommand("SET", "k", "1") : RedisCommand("ECHO", "\($0)") })
        for (index, result) in results.enumerated() {
            switch result {
            case .success(let value): #expect(value.string == "\(index)")
            case .failure(let error): #expect(error.serverErrorName == "READONLY" && index % 2 == 0)
            }
        }
    }

    @Test func errorOfAReplicaWithoutItsMasterIsTemporary() throws {
        defer { redis.stop() }
        try administer("CONFIG", "SET", "replica-serve-stale-data", "no")
        try administer("REPLICAOF", "127.0.0.1", "1")
        #expect(try failure(of: RedisCommand("GET", "k")).serverErrorName == "MASTERDOWN")
        let error = try failure(of: RedisCommand("GET", "k"))
        #expect(error.serverErrorName == "MASTERDOWN" && error.isPassing)
        try administer("REPLICAOF", "NO", "ONE")
        #expect(try connection.call(RedisCommand("GET", "k")) == .null)
    }

    @Test func errorOfALoadingServerIsTemporary() throws {
        defer { redis.stop() }
        try administer("CONFIG", "SET", "key-load-delay", "200")
        let stored = connection.call((0..<5000).map { RedisCommand("SET", "key\($0)", "value") })
        #expect(stored.allSatisfy { $0 == .success(.status("OK")) })
        let other = RedisConnection(redis.configuration)
        let busy = Answers(of: [RedisCommand("DEBUG", "RELOAD")], on: other)
        let error = try firstFailure()
        #expect(error.serverErrorName == "LOADING" && error.isPassing)
        #expect(try busy.wait() == [.success(.status("OK"))])
        #expect(try connection.call(RedisCommand("GET", "key1")).string == "value")
    }

    @Test func errorsForMissingReplicasMemoryAndDiskAreTemporary() throws {
        defer { redis.stop() }
        try administer("CONFIG", "SET", "min-replicas-to-write", "1")
        #expect(try failure(of: RedisCommand("SET", "k", "1")).serverErrorName == "NOREPLICAS")
        #expect(try failure(of: RedisCommand("SET", "k", "1")).isPassing)
        try administer("CONFIG", "SET", "min-replicas-to-write", "0")

        try administer("CONFIG", "SET", "maxmemory", "1")
        #expect(try failure(of: RedisCommand("SET", "k", "1")).outlook == .full)
        try administer("CONFIG", "SET", "maxmemory", "0")

        // The snapshot cannot be written, because no file can be created in this folder.
        try administer("SET", "k", "1")
        try administer("CONFIG", "SET", "dir", "/proc/self")
        try administer("CONFIG", "SET", "save", "3600 1")
        try administer("BGSAVE")
        try waitUntil("the snapshot fails") {
            try !information("persistence").contains("rdb_last_bgsave_status:ok")
        }
        let error = try failure(of: RedisCommand("SET", "k", "1"))
        #expect(error.serverErrorName == "MISCONF" && error.isPassing)
        // A new connection can read, although the server refuses PING.
        #expect(try RedisConnection(redis.configuration).call(RedisCommand("GET", "k")).string == "1")
        try administer("CONFIG", "SET", "save", "")  // or the server would not stop until it has saved
    }

    @Test func errorDuringALongScriptIsTemporary() throws {
        defer { redis.stop() }
        try administer("CONFIG", "SET", "busy-reply-threshold", "10")
        try connection.connect()
        let other = RedisConnection(redis.configuration)
        let busy = Answers(of: [RedisCommand("EVAL", "while true do end", "0")], on: other)
        let error = try firstFailure()
        #expect(error.serverErrorName == "BUSY" && error.isPassing)
        #expect(try connection.call(RedisCommand("SCRIPT", "KILL")) == .status("OK"))
        _ = try busy.wait()
        #expect(try connection.call(RedisCommand("GET", "k")) == .null)
    }

    @Test func errorsOfTheCallerAreLasting() throws {
        defer { redis.stop() }
        #expect(try failure(of: RedisCommand("NO-SUCH-COMMAND")).outlook == .lasting)
        #expect(try failure(of: RedisCommand("EVAL", "return nil + 1", "0")).outlook == .lasting)
        let wrong = try requireError(RedisError.self) { try RedisConfiguration(url: "http://h") }
        #expect(wrong.outlook == .lasting)
        try administer("CONFIG", "SET", "requirepass", "x")
        let denied = try requireError(RedisError.self) {
            try RedisConnection(redis.configuration).connect()
        }
        #expect(denied.outlook == .lasting)
    }

    private func failure(of command: RedisCommand) throws -> RedisError {
        try requireError(RedisError.self) { try connection.call(command) }
    }

    /// The error of the first GET that fails.
    private func firstFailure() throws -> RedisError {
        var found: RedisError?
        try waitUntil("a GET fails") {
            if case .failure(let error) = connection.call([RedisCommand("GET", "k")])[0] { found = error }
            return found != nil
        }
        return try #require(found)
    }

    private func administer(_ words: String...) throws {
        _ = try administrator.call(RedisCommand(arguments: words.map { Array($0.utf8) }))
    }

    private func information(_ section: String) throws -> String {
        try administrator.call(RedisCommand("INFO", section)).string ?? ""
    }
}
