import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Tests that each user of `deploy/acl` has exactly the permissions that its role needs for the real scripts.
@Suite final class AccessListTests {
    let redis: RedisServer

    init() throws {
        redis = try RedisServer()
        for role in ["worker", "coordinator", "monitor"] {
            let words = try Self.words(of: role)
            #expect(words[0] == "user" && words[1] == "darkroom-\(role)")
            #expect(
                !words.contains { $0.hasPrefix(">") || $0.hasPrefix("#") || $0 == "nopass" }, "the file has a password")
            let set = ["ACL", "SETUSER"] + words.dropFirst() + [">\(role)'s password"]
            #expect(try call(set) == .status("OK"))
        }
    }

    deinit { redis.stop() }

    // MARK: - Permitted commands

    /// The scripts of each role. The line `-- ROLES` in the head of a script names the roles that call it.
    private static func scripts(of role: String) throws -> [RedisScript] {
        try StoreScripts.all.filter { script in
            let text = String(decoding: script.source, as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("-- ROLES ") }
            let roles = try #require(line, "\(script.name) names no role").dropFirst("-- ROLES ".count)
            return roles.components(separatedBy: ", ").contains(role)
        }
    }

    /// The commands that the connection, the read functions of the store, and publishers call outside scripts.
    private static let beside: [String: Set<String>] = [
        "worker": ["publish", "time", "hget", "hgetall", "hmget", "getrange", "zmscore"],
        "coordinator": [
            "wait", "time", "type", "getrange", "hget", "hgetall", "hmget", "smembers", "smismember", "zmscore",
            "zrange",
            "zrevrange",
        ],
    ]
    private static let ofConnection: Set = [
        "ping", "select", "role", "info", "cluster|slots", "subscribe", "unsubscribe", "evalsha", "eval", "script|load",
    ]

    @Test func listsHaveExactlyTheCommandsOfTheScripts() throws {
        let roles = ["worker", "coordinator"]
        #expect(Set(try roles.flatMap { try Self.scripts(of: $0) }.map(\.name)) == Set(StoreScripts.all.map(\.name)))
        for role in roles {
            let scripts = try Self.scripts(of: role)
            let called = scripts.reduce(into: Set<String>()) { $0.formUnion(Self.commands(in: $1)) }
            #expect(called.count > 15, "the commands were not found in the scripts")
            let needed = called.union(Self.ofConnection).union(Self.beside[role] ?? [])
            let granted = Set(try Self.words(of: role).filter { $0.hasPrefix("+") }.map { String($0.dropFirst()) })
            #expect(granted.subtracting(needed) == [], "\(role) has commands that it does not need")
            #expect(needed.subtracting(granted) == [], "\(role) lacks commands")
        }
    }

    @Test func eachRoleRunsItsScripts() throws {
        let (worker, coordinator, monitor) = (try store("worker"), try store("coordinator"), try store("monitor"))
        var options = BatchOptions()
        options.operationSize = 2
        options.webhook = "http://h/"
        let (first, second) = (BatchID("first"), BatchID("second"))
        for (id, others) in [(first, []), (second, [first])] {
            guard case .submitted = try coordinator.perform(coordinator.submit(id, options, after: others)) else {
                throw TestFailure(description: "\(id) was not submitted")
            }
            let feeds = (1...4).map {
                coordinator.feed(id, operation: $0, photos: 2, entry: [1, 2, 3], digest: "digest \($0)")
            }
            #expect(try coordinator.perform(feeds).allSatisfy { $0 == .fed })
            #expect(try coordinator.perform(coordinator.feederHeartbeat(id)))
            #expect(try coordinator.perform(coordinator.seal(id, operations: 4, photos: 8)) == .sealed)
        }
        _ = try coordinator.perform(coordinator.prioritize(first, .high))
        _ = try coordinator.perform(coordinator.setLimits(downloads: 8, filtrations: nil))
        _ = try coordinator.perform(coordinator.clearLimits())
        for isSuspended in [true, false] {
            for id in [nil, first] { _ = try coordinator.perform(coordinator.suspend(id, .everything, isSuspended)) }
        }
        _ = try coordinator.perform(coordinator.focus(first, BatchControls.Focus(2...3)))
        _ = try coordinator.perform(coordinator.focus(first, nil))
        _ = try coordinator.perform(coordinator.removeDependency(second, from: first))
        let version = try coordinator.dependencyVersion()
        _ = try coordinator.perform(coordinator.addDependency(second, on: first, version: version))
        _ = try coordinator.perform(coordinator.cancelPhotos(first, [0...0]))

        let heard = DispatchSemaphore(value: 0)
        let subscribed = DispatchSemaphore(value: 0)
        let subscription = RedisSubscription(
            try configuration("monitor"), channels: [monitor.keys.controlChannel, monitor.keys.eventsChannel]
        ) { event in
            switch event {
            case .subscribed: subscribed.signal()
            case .message: heard.signal()
            case .disconnected: break
            }
        }
        defer { subscription.close() }
        try #require(subscribed.wait(timeout: .now() + 20) == .success)

        try work(worker)
        #expect(heard.wait(timeout: .now() + 20) == .success)
        _ = try coordinator.perform(coordinator.retry(first, from: 1, through: 4))
        _ = try coordinator.perform(coordinator.restoreEntry(first, operation: 1, entry: [1, 2, 3]))
        _ = try coordinator.perform(coordinator.cancel(first))
        _ = try coordinator.perform(coordinator.expireLeases())
        _ = try coordinator.perform(coordinator.heartbeat(worker: nil))
        #expect(try !coordinator.repair([first], steps: 50).hasMore)
        #expect(try coordinator.connection.call(RedisCommand("WAIT", "0", "10")).int == 0)
        for store in [coordinator, monitor] {
            let batch = try store.batch(named: "first")
            #expect(try store.batchIDs().count == 2)
            #expect(try store.stateCodes(of: first, in: 0..<8).count == 8)
            _ = try store.operations(of: batch, in: 1...4)
            _ = try store.failures(of: first)
            _ = try store.entries(of: first, operations: [1])
            _ = try (store.workers(), store.clusterControls(), store.dependencies(of: [second]), store.time())
            _ = try RedisRequirements.check(try configuration(store === monitor ? "monitor" : "coordinator"))
        }
        _ = try coordinator.perform(coordinator.forget(first, unfinished: true))
        #expect(try !worker.repair([second], steps: 50).hasMore)
        _ = try worker.perform(worker.leave(worker: "w"))
        // If the server has lost a script, the client sends the source of the script.
        _ = try call(["SCRIPT", "FLUSH"])
        _ = try worker.perform(worker.heartbeat(worker: "w"))
    }

    /// Claims all operations, finishes some of them and releases the rest.
    private func work(_ store: BatchStore) throws {
        _ = try store.perform(store.heartbeat(worker: "w", facts: [("host", "h")]))
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: 1)) else {
            throw TestFailure(description: "no operation was claimed")
        }
        #expect(claimed.operations.count == 4)
        let held = claimed.operations.map(\.held)
        _ = try store.perform(store.heartbeat(worker: "w", held: held))
        _ = try store.facts(of: held[0].batch)
        let failed = try store.perform(
            store.report(
                held[1], worker: "w", stateCodes: Array("Fi".utf8), bytesIn: 1, bytesOut: 1,
                failures: [(index: 3, json: Array("{}".utf8))]))
        guard case .accepted(ended: true, stateCodes: nil, _) = failed else {
            throw TestFailure(description: "the reply to the report is \(failed)")
        }
        _ = try store.perform(store.release(held[2], worker: "w"))
        _ = try store.perform(store.endWebhookAttempt("first 1", score: 0, retryAfter: nil))
        _ = try store.connection.call(RedisCommand("PUBLISH", store.keys.eventsChannel, "{}"))
    }

    // MARK: - Denied commands

    @Test(arguments: ["worker", "coordinator", "monitor"]) func deniesAllOtherCommands(_ role: String) throws {
        let connection = RedisConnection(try configuration(role))
        let refused = [
            ["GET", "other"], ["HGETALL", "{other}:control"], ["KEYS", "*"], ["SCAN", "0"], ["RANDOMKEY"], ["FLUSHALL"],
            ["FLUSHDB"], ["CONFIG", "GET", "*"], ["CONFIG", "SET", "dir", "/"], ["ACL", "LIST"], ["ACL", "WHOAMI"],
            ["CLIENT", "LIST"], ["CLIENT", "KILL", "TYPE", "normal"], ["MONITOR"], ["SHUTDOWN"], ["SAVE"],
            ["REPLICAOF", "h", "1"], ["SCRIPT", "FLUSH"], ["FUNCTION", "LIST"],
            ["CLUSTER", "RESET"], ["MODULE", "LIST"], ["SLOWLOG", "GET"], ["PUBLISH", "{other}:control", "x"],
            ["SUBSCRIBE", "{other}:events"], ["PSUBSCRIBE", "*"], ["DEL", "{darkroom}:control"],
            ["RENAME", "{darkroom}:control", "x"], ["EXPIRE", "{darkroom}:control", "1"],
            ["EVAL", "return redis.call('HGETALL', '{other}:control')", "0"],
            ["EVAL", "return redis.call('FLUSHALL')", "0"],
        ]
        for words in refused {
            let result = connection.call([RedisCommand(arguments: words.map { Array($0.utf8) })])[0]
            guard case .failure(let error) = result else {
                Issue.record("\(role) may: \(words)")
                continue
            }
            // Inside a script, Redis 7 and Redis 8 return different error messages.
            let isRefusal =
                error.serverErrorName == "NOPERM" || error.message.contains("script can't")
                || error.message.contains("ACL failure in script")
            #expect(isRefusal, "\(words): \(error)")
            #expect(error.outlook == .lasting)
        }
    }

    @Test func monitorCannotChangeAnything() throws {
        let monitor = try store("monitor")
        let error = try requireError(StoreError.self) {
            try monitor.perform(monitor.submit(BatchID("b"), BatchOptions()))
        }
        #expect(error.redis?.serverErrorName == "NOPERM")
        for words in [["HSET", "{darkroom}:control", "suspended", "1"], ["PUBLISH", "{darkroom}:control", "x"]] {
            let error = try requireError(RedisError.self) {
                try monitor.connection.call(RedisCommand(arguments: words.map { Array($0.utf8) }))
            }
            #expect(error.serverErrorName == "NOPERM")
        }
        #expect(try call(["DBSIZE"]).int == 0)
    }

    @Test func deniesLoginsWithoutAPassword() throws {
        let words = try Self.words(of: "worker")
        #expect(try call(["ACL", "SETUSER", "fresh"] + words.dropFirst(2)) == .status("OK"))
        for password in ["", "worker's password"] {
            var configuration = redis.configuration
            configuration.user = "fresh"
            configuration.password = password
            let error = try requireError(RedisError.self) { try RedisConnection(configuration).connect() }
            #expect(error.code == .authenticationFailed)
        }
    }

    // MARK: - Steps

    private func configuration(_ role: String) throws -> RedisConfiguration {
        var configuration = redis.configuration
        configuration.user = "darkroom-\(role)"
        configuration.password = "\(role)'s password"
        return configuration
    }

    private func store(_ role: String) throws -> BatchStore {
        BatchStore(try configuration(role), keys: try Keys())
    }

    private func call(_ words: [String]) throws -> RedisValue {
        try RedisConnection(redis.configuration).call(RedisCommand(arguments: words.map { Array($0.utf8) }))
    }

    private static func words(of role: String) throws -> [String] {
        let file = TestFiles.package.appendingPathComponent("deploy/acl/\(role).acl")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == 1, "\(file.path) has \(lines.count) lines")
        return lines[0].split(separator: " ").map(String.init)
    }

    /// The commands that a script calls. Each call must contain its command name as a literal.
    private static func commands(in script: RedisScript) -> Set<String> {
        let code = String(decoding: script.source, as: UTF8.self).split(separator: "\n").map { line in
            line.range(of: "--").map { line[..<$0.lowerBound] } ?? line
        }.joined(separator: "\n")
        var found: Set<String> = []
        for call in code.replacingOccurrences(of: "redis.pcall(", with: "redis.call(")
            .components(separatedBy: "redis.call(").dropFirst()
        {
            let text = call.drop { $0.isWhitespace }
            guard text.hasPrefix("'") else {
                Issue.record("\(script.name) calls a command without a literal name: \(text.prefix(40))")
                continue
            }
            found.insert(text.dropFirst().prefix { $0 != "'" }.lowercased())
        }
        return found
    }

    /// Users that were created from the files of an earlier version lack the commands of newer scripts.
    @Test func usersOfAnEarlierVersionOnlyLackRepairs() throws {
        let (worker, coordinator) = (try store("worker"), try store("coordinator"))
        defer { [worker, coordinator].forEach { $0.connection.close() } }
        let id: BatchID = "first"
        _ = try coordinator.perform(coordinator.submit(id, BatchOptions()))
        let feed = coordinator.feed(id, operation: 1, photos: 1, entry: [1, 2, 3], digest: "1")
        #expect(try coordinator.perform(feed) == .fed)
        #expect(try call(["ACL", "SETUSER", "darkroom-worker", "-copy"]) == .status("OK"))
        for _ in 0..<3 {
            let steps = try worker.repair([id], steps: 10)
            #expect(!steps.hasMore && steps.repaired == [] && steps.skipped == [], "\(steps)")
        }
        // With the permission, the check is possible.
        #expect(try call(["ACL", "SETUSER", "darkroom-worker", "+copy"]) == .status("OK"))
        #expect(try call(["ZREM", coordinator.keys.queue(id), "1"]) == .integer(1))
        #expect(try worker.repair([id], steps: 10).repaired == [id])
    }
}
