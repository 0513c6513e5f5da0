import DarkroomModel
import DarkroomRedis

@testable import DarkroomStore
@testable import StoreInspection

/// Redis and the model side by side: both get every message, and after each message their states are compared.
final class ModelBench {
    let store: BatchStore
    private(set) var model = StoreModel()
    /// The number of sent messages.
    private(set) var steps = 0
    /// The number of replies of each `Answer.kind`.
    private(set) var met: [String: Int] = [:]
    private let reader: StoreReader
    private let listener: Listener
    private var log: [String] = []
    /// The highest fencing token so far, including tokens from before a rollback.
    private var newestToken = 0
    private var saved: (model: StoreModel, keys: [RedisValue])?

    init(_ store: BatchStore) throws {
        self.store = store
        reader = StoreReader(store)
        listener = try Listener(store)
    }

    func close() { listener.close() }

    var state: StoreState { model.state }

    /// Sends a message, and checks the reply and the state of Redis.
    @discardableResult
    func send(_ message: Message, _ remark: String = "") throws -> Answer {
        steps += 1
        let before = model.state
        let answer = try message.perform(store)
        note("\(remark)\(message)\n        -> \(answer)")
        met[answer.kind, default: 0] += 1
        let redis = try reader.read()
        model.now = time(of: message, in: redis)
        if let turn = answer.turn, turn != redis.entered {
            throw failure(["the ready queues were entered \(redis.entered) times"])
        }
        let expected = model.answer(message)
        if answer.withoutTurn != expected.withoutTurn { throw failure(["expected the reply \(expected)"]) }
        try compare(redis)
        let violations = redis.violations(since: before)
        if !violations.isEmpty { throw failure(violations) }
        let (notices, events) = try listener.upToNow()
        let audit = ChangeAudit(
            before: before, after: redis, notices: notices, events: events, now: try store.time())
        let differences = audit.differences()
        if !differences.isEmpty { throw failure(differences + ["Published: \(notices) \(events)"]) }
        if redis.claims != before.claims {
            if redis.claims <= newestToken { throw failure(["the fencing token \(redis.claims) was used before"]) }
            newestToken = redis.claims
        }
        return answer
    }

    /// Changes Redis with a plain command instead of a script, and changes the model in the same way.
    func tamper(_ words: [String], compares: Bool = true, _ change: (inout StoreState) -> Void) throws {
        note(words.joined(separator: " "))
        let key = store.keys.prefix + words[1]
        let arguments = [words[0], key] + words.dropFirst(2)
        _ = try store.connection.call(RedisCommand(arguments: arguments.map { Array($0.utf8) }))
        change(&model.state)
        if compares { try compare(try reader.read()) }
    }

    /// Changes Redis with plain commands as a torn append-only file does, checks that the batches are repaired, and
    /// continues with the result.
    func damage(_ commands: [[String]], _ repair: () throws -> Void) throws {
        for words in commands {
            note("(damage) " + words.joined(separator: " "))
            let arguments = [words[0], store.keys.prefix + words[1]] + words.dropFirst(2)
            _ = try store.connection.call(RedisCommand(arguments: arguments.map { Array($0.utf8) }))
        }
        try repair()
        let redis = try reader.read()
        let violations = redis.violations()
        if !violations.isEmpty { throw failure(violations) }
        model.state = redis
        _ = try listener.upToNow()
    }

    /// Saves the current state for `rollBack`.
    func save() throws {
        let script = """
            local found = {}
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
                found[#found + 1] = key
                found[#found + 1] = redis.call('DUMP', key)
            end
            return found
            """
        let reply = try store.connection.call(RedisCommand("EVAL", script, "0", store.keys.prefix + "*"))
        saved = (model, reply.array ?? [])
        note("(saved)")
    }

    /// Restores the saved state, like a failover to a replica that lags behind.
    func rollBack() throws {
        guard let saved else { return }
        note("(rolled back)")
        let script = """
            for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
            for i = 2, #ARGV, 2 do redis.call('RESTORE', ARGV[i], 0, ARGV[i + 1]) end
            """
        var command = RedisCommand("EVAL", script, "0", store.keys.prefix + "*")
        command.arguments += saved.keys.compactMap(\.bytes)
        _ = try store.connection.call(command)
        model = saved.model
        try compare(try reader.read())
        // A new fencing token is at least the Redis time in ms. Waits until this time exceeds the newest token; a real
        // failover also takes that long.
        while try store.time() <= newestToken {}
    }

    /// A failure with the last steps of the run.
    func failure(_ found: [String]) -> TestFailure {
        let lines = ["after \(steps) steps:"] + found + ["The last steps:"] + log
        return TestFailure(description: lines.joined(separator: "\n    "))
    }

    private func note(_ text: String) {
        log.append(text)
        if log.count > 30 { log.removeFirst() }
    }

    private func compare(_ redis: StoreState) throws {
        for (id, batch) in redis.batches where model.state.batches[id] != nil {
            model.state.batches[id]!.counters = batch.counters
            model.state.batches[id]!.reasons = batch.reasons
        }
        model.state.turn = redis.turn
        model.state.entered = redis.entered
        if redis != model.state { throw failure(redis.differences(from: model.state)) }
        model.state = redis  // equal values with shared storage speed up the next comparison
    }

    /// The Redis time of the step: the latest time that the step wrote. The result of a step that writes no time does
    /// not depend on the time.
    private func time(of message: Message, in redis: StoreState) -> Int {
        switch message {
        case .claim, .heartbeat, .release: redis.seen ?? 0
        case .takeWebhook(let due, let duration): (redis.webhooks[due.member] ?? 0) - duration.wholeMilliseconds
        case .endWebhookAttempt(let member, _, let delay?): (redis.webhooks[member] ?? 0) - delay.wholeMilliseconds
        case .retry(let id, _, _, _):
            // A retry that takes the output folder of its batch again writes the time as `output.taken`.
            max(latestTime(in: redis), redis.batches[id]?.settings["output.taken"].flatMap { Int($0) } ?? 0)
        // `forget` writes the time to a separate key.
        case .forget(let id, _): max(latestTime(in: redis), redis.forgotten[id] ?? 0)
        default: latestTime(in: redis)
        }
    }

    private func latestTime(in redis: StoreState) -> Int {
        redis.batches.values.map(\.latestTime).max() ?? 0
    }
}
