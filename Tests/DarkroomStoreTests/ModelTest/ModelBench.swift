import DarkroomModel
import DarkroomRedis

@testable import DarkroomStore
@testable import StoreInspection

/// Redis and the model side by side: every message goes to both, and after each everything is compared.
final class ModelBench {
    let store: BatchStore
    private(set) var model = StoreModel()
    /// Messages sent.
    private(set) var steps = 0
    /// How often each answer was met, see `Answer.kind`.
    private(set) var met: [String: Int] = [:]
    private let reader: StoreReader
    private let listener: Listener
    private var log: [String] = []
    /// The highest fencing token that was ever given, also before a rollback.
    private var newestToken = 0
    private var saved: (model: StoreModel, keys: [RedisValue])?

    init(_ store: BatchStore) throws {
        self.store = store
        reader = StoreReader(store)
        listener = try Listener(store)
    }

    func close() { listener.close() }

    var state: StoreState { model.state }

    /// Sends a message, and checks the answer and everything in Redis.
    @discardableResult
    func send(_ message: Message, _ remark: String = "") throws -> Answer {
        steps += 1
        let before = model.state
        let answer = try message.perform(store)
        note("\(remark)\(message)\n        -> \(answer)")
        met[answer.kind, default: 0] += 1
        let redis = try reader.read()
        model.now = time(of: message, in: redis)
        if let turn = answer.turn, turn != redis.turn {
            throw failure(["the turn of the ready queues is \(redis.turn)"])
        }
        let expected = model.answer(message)
        if answer.withoutTurn != expected.withoutTurn { throw failure(["expected the answer \(expected)"]) }
        try compare(redis)
        let violations = redis.violations(since: before)
        if !violations.isEmpty { throw failure(violations) }
        let (notices, events) = try listener.upToNow()
        let complaints = ChangeAudit(before: before, after: redis, notices: notices, events: events).complaints()
        if !complaints.isEmpty { throw failure(complaints + ["Said was: \(notices) \(events)"]) }
        if redis.claims != before.claims {
            if redis.claims <= newestToken { throw failure(["the fencing token \(redis.claims) was given before"]) }
            newestToken = redis.claims
        }
        return answer
    }

    /// Changes something behind the scripts' back, in Redis by a command and in the model likewise.
    func tamper(_ words: [String], compares: Bool = true, _ change: (inout StoreState) -> Void) throws {
        note(words.joined(separator: " "))
        let key = store.keys.prefix + words[1]
        let arguments = [words[0], key] + words.dropFirst(2)
        _ = try store.connection.call(RedisCommand(arguments: arguments.map { Array($0.utf8) }))
        change(&model.state)
        if compares { try compare(try reader.read()) }
    }

    /// Keeps everything as it stands, for `rollBack`.
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

    /// Puts everything back to what was saved, as a failover to a replica that was behind.
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
        // A failover takes longer than what tokens may run ahead of the clock.
        while try store.time() <= newestToken {}
    }

    /// The failure with the seed's run in words.
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
        if redis != model.state { throw failure(redis.differences(from: model.state)) }
        model.state = redis  // equal, and quickly compared with what is read next
    }

    /// The Redis clock as the step saw it: what it wrote as a time, which is the latest of all. A step that wrote none needs
    /// none.
    private func time(of message: Message, in redis: StoreState) -> Int {
        switch message {
        case .claim, .heartbeat: redis.seen ?? 0
        case .takeWebhook(let due, let duration): (redis.webhooks[due.member] ?? 0) - duration.wholeMilliseconds
        case .endWebhookAttempt(let member, _, let delay?): (redis.webhooks[member] ?? 0) - delay.wholeMilliseconds
        case .retry(let id, _, _, _):
            // A retry that takes the folder of its batch writes when.
            max(latestTime(in: redis), redis.batches[id]?.settings["output.taken"].flatMap { Int($0) } ?? 0)
        // Forgetting notes when in a place of its own.
        case .forget(let id, _): max(latestTime(in: redis), redis.forgotten[id] ?? 0)
        default: latestTime(in: redis)
        }
    }

    private func latestTime(in redis: StoreState) -> Int {
        redis.batches.values.map(\.latestTime).max() ?? 0
    }
}
