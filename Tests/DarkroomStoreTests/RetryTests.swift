import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct RetryTests {
    @Test func limitsTheStateCodesPerCall() throws {
        let test = try TestStore()
        let id = try test.submit(size: 1000, operations: 1)
        for operation in try test.claim() { try test.report(operation.held, String(repeating: "F", count: 1000)) }
        // A batch of a million photos. The last photo has failed.
        let stateCodes = String(repeating: "F", count: 999_999) + "g"
        try test.command("SET", test.store.keys.states(id), stateCodes)
        for (field, value) in [
            ("photos", "1000000"), ("operations", "1000"), ("operations.ended", "1000"), ("operations.kept", "1"),
            ("count.filtered", "999999"), ("count.failed", "1"),
        ] { try test.command("HSET", test.store.keys.batch(id), field, value) }
        try test.command("HSET", test.store.keys.operations(id), "1000", "entry")
        try test.command("HSET", test.store.keys.reasons(id), "g", "1")
        var (next, calls, retried): (Int?, Int, Int) = (1, 0, 0)
        while let first = next {
            guard
                case .retried(let photos, _, let following) = try test.store.perform(test.store.retry(id, from: first))
            else { throw TestFailure(description: "refused") }
            if let following { #expect(following - first <= 110) }
            (next, calls, retried) = (following, calls + 1, retried + photos)
        }
        #expect(retried == 1 && (9...12).contains(calls), "\(calls) calls")
    }

    /// A call stops after 100 operations, or after 1,000 state codes if the operations are large.
    @Test(arguments: [(size: 2, operations: 300, step: 100), (size: 400, operations: 6, step: 2)])
    func limitsACallTo100OperationsOr1000StateCodes(_ batch: (size: Int, operations: Int, step: Int)) throws {
        let test = try TestStore()
        let id = try test.submit(size: batch.size, operations: batch.operations)
        try test.develop("g")
        #expect(try test.batch(id).state == .finished)
        func retry(_ from: Int) throws -> RetryReply {
            try test.store.perform(test.store.retry(id, from: from, through: batch.operations))
        }
        for from in stride(from: 1, to: batch.operations, by: batch.step) {
            let next = from + batch.step > batch.operations ? nil : from + batch.step
            #expect(try retry(from) == .retried(photos: batch.step * batch.size, notKept: 0, next: next))
            let content = try test.batch(id)
            #expect(content.state == .ready && content.round == 2 && content.queue.count == from + batch.step - 1)
        }
        #expect(try test.state().expiring.isEmpty)
        try test.develop()
        let content = try test.batch(id)
        #expect(content.state == .finished && content.counters.failed == 0)
        #expect(content.counters.filtered == batch.size * batch.operations)
        #expect(try retry(1) == .retried(photos: 0, notKept: 0, next: nil))
        #expect(try test.batch(id).round == 2)
    }

    @Test func retriedBatchGetsItsNameBackUnlessItIsTaken() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1) { $0.name = "photos" }
        try test.develop("g")
        let second = try test.submit("second", operations: 1) { $0.name = "photos" }
        try test.develop("g")
        _ = try test.store.perform(test.store.retry(first))
        #expect(try test.state().names == ["photos": second])
        try test.develop("g")
        #expect(try test.store.perform(test.store.forget(second)) == .forgotten)
        #expect(try test.state().names.isEmpty)
        _ = try test.store.perform(test.store.retry(first))
        #expect(try test.state().names == ["photos": first])
    }

    @Test func reads100OperationsWithoutFailuresPerCall() throws {
        let test = try TestStore()
        let id = try test.submit(size: 1000, operations: 400)
        try test.develop()
        for (from, next) in [(1, 101), (101, 201), (201, 301), (301, nil)] {
            let call = test.store.retry(id, from: from, through: 400)
            #expect(try test.store.perform(call) == .retried(photos: 0, notKept: 0, next: next))
        }
    }

    @Test func retriesOnlyTheGivenFailureReasons() throws {
        let test = try TestStore()
        let id = try test.submit(size: 4, operations: 2)
        let held = try test.claim().map(\.held)
        try test.report(held[0], "gjFg")
        let retry = test.store.retry(id, from: 1, through: 2, reasons: [.timeout])
        #expect(try test.store.perform(retry) == .retried(photos: 2, notKept: 0, next: nil))
        #expect(try test.batch(id).stateCodes(1) == "NjFN")
        // Executing operations do not change.
        try test.report(held[1], "gDNN")
        #expect(try test.store.perform(retry) == .retried(photos: 0, notKept: 0, next: nil))
        #expect(try test.batch(id).stateCodes(2) == "gDNN")
    }

    @Test func countsMissingEntriesAndRestoresThem() throws {
        let test = try TestStore()
        let id = try test.submit(size: 3, operations: 3)
        try test.command("HSET", test.store.keys.batch(id), "operations.kept", "9999")
        for operation in try test.claim() { try test.report(operation.held, "aFb") }
        #expect(try test.command("HLEN", test.store.keys.operations(id)) == .integer(1))
        try test.command("HSET", test.store.keys.batch(id), "operations.kept", "1")
        let retry = test.store.retry(id, from: 1, through: 3)
        #expect(try test.store.perform(retry) == .retried(photos: 2, notKept: 4, next: nil))
        for (operation, reply) in [(1, RestoreEntryReply.notNeeded), (2, .restored), (3, .restored), (4, .notNeeded)] {
            let restore = test.store.restoreEntry(id, operation: operation, entry: [7])
            #expect(try test.store.perform(restore) == reply, "operation \(operation)")
        }
        #expect(try test.store.perform(retry) == .retried(photos: 4, notKept: 0, next: nil))
        let claimed = try test.claim()
        #expect(claimed.map(\.entry) == [[1, 2, 3], [7], [7]])
        #expect(claimed.allSatisfy { $0.stateCodes == Array("NFN".utf8) })
        #expect(try test.batch(id).failures.isEmpty)
    }

    @Test func cancelledBatchIsNotRetried() throws {
        let test = try TestStore()
        let id = try test.submit(size: 3, operations: 2)
        try test.report(try test.claim(operations: 1)[0].held, "aaa")
        _ = try test.store.perform(test.store.cancel(id))
        #expect(try test.store.perform(test.store.retry(id, from: 1, through: 2)) == .cancelled)
        #expect(try test.store.perform(test.store.retry(BatchID("none"), from: 1, through: 2)) == .gone)
    }

    @Test func eachRoundCallsItsWebhook() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1) { $0.webhook = "https://example.org/done" }
        func due() throws -> [DueWebhook] { try test.store.perform(test.store.heartbeat(worker: "w")).webhooks }
        #expect(try due().isEmpty)
        try test.develop("a")
        let first = try #require(try due().first)
        #expect(
            first.member == "batch 1" && first.batch == id && first.round == 1
                && first.url == "https://example.org/done")
        guard
            case .taken(attempts: 1, let score) = try test.store.perform(
                test.store.takeWebhook(first, for: .seconds(60)))
        else { throw TestFailure(description: "the webhook was not taken") }
        #expect(try due().isEmpty)
        #expect(try test.store.perform(test.store.takeWebhook(first, for: .seconds(60))) == .moved)
        #expect(
            try !test.store.perform(test.store.endWebhookAttempt(first.member, score: first.score, retryAfter: nil)))
        #expect(try test.store.perform(test.store.endWebhookAttempt(first.member, score: score, retryAfter: .zero)))
        let again = try #require(try due().first)
        guard
            case .taken(attempts: 2, let last) = try test.store.perform(
                test.store.takeWebhook(again, for: .seconds(60)))
        else { throw TestFailure(description: "the webhook was not taken again") }
        #expect(try test.store.perform(test.store.endWebhookAttempt(again.member, score: last, retryAfter: nil)))
        #expect(try test.state().webhooks.isEmpty)
        _ = try test.store.perform(test.store.retry(id, from: 1, through: 1))
        try test.develop()
        #expect(try due().map(\.member) == ["batch 2"])
        #expect(try test.store.perform(test.store.forget(id)) == .forgotten)
        #expect(try test.state().webhooks.isEmpty)
    }

    @Test func heartbeatReturnsAtMostTenWebhooks() throws {
        let test = try TestStore()
        for number in 1...12 { try test.submit("b\(number)") { $0.webhook = "https://example.org/\(number)" } }
        let due = try test.store.perform(test.store.heartbeat(worker: "w")).webhooks
        #expect(due.count == 10)
        for webhook in due { _ = try test.store.perform(test.store.takeWebhook(webhook, for: .seconds(60))) }
        #expect(try test.store.perform(test.store.heartbeat(worker: "w")).webhooks.count == 2)
    }

    @Test func retryRequiresTheOutputFolder() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1) { $0.output = "/photos" }
        try test.develop("g")
        var options = BatchOptions()
        options.output = "/photos"
        #expect(try test.store.perform(test.store.submit("second", options, overwrite: true)).isSubmitted)
        #expect(try test.store.perform(test.store.retry(first)) == .outputTaken(by: "second"))
        #expect(try test.batch(first).stateCodes(1) == "ggg")

        let taken = try #require(try test.store.facts(of: "second")).outputTaken
        let retried = try test.store.perform(test.store.retry(first, overwrite: true))
        #expect(retried == .retried(photos: 3, notKept: 0, next: nil))
        #expect(try test.state().outputs == ["/photos": first])
        #expect(try #require(try test.store.facts(of: first)).outputTaken > taken)
        // The folder belongs to the first batch again. Forgetting the other batch does not free the folder.
        #expect(try test.store.perform(test.store.forget("second", unfinished: true)) == .forgotten)
        #expect(try test.state().outputs == ["/photos": first])
        #expect(try test.store.perform(test.store.submit("third", options)) == .outputTaken(by: first))
    }

    /// The number increases even if the Redis clock goes backwards, or if a Redis server whose clock was ahead has
    /// written the last number.
    @Test func numberOfATakenFolderOnlyIncreases() throws {
        let test = try TestStore()
        var options = BatchOptions()
        options.output = "/photos"
        let ahead = try test.store.time() + 3_600_000
        try test.command("HSET", test.store.keys.control, "taken", "\(ahead)")
        var taken: [Int] = []
        for name: BatchID in ["first", "second"] {
            #expect(try test.store.perform(test.store.submit(name, options, overwrite: true)).isSubmitted)
            taken.append(try #require(try test.store.facts(of: name)).outputTaken)
        }
        #expect(taken == [ahead + 1, ahead + 2])
        let seen = ahead + 50_000
        #expect(try test.store.perform(test.store.submit("third", options, overwrite: true, above: seen)).isSubmitted)
        #expect(try test.store.outputsTaken(by: ["third", "gone"]) == ["third": seen + 1])
        _ = try test.store.perform(test.store.retry("first", overwrite: true, above: seen + 100))
        #expect(try test.store.outputsTaken(by: ["first"]) == ["first": seen + 101])
    }

    @Test func batchWhoseFolderIsTakenDoesNotGrow() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 2) { $0.output = "/photos" }
        try test.develop()
        var options = BatchOptions()
        options.output = "/photos"
        #expect(try test.store.perform(test.store.submit("second", options, overwrite: true)).isSubmitted)
        let before = try test.state()
        let grow = test.store.grow(first, fed: (2, 6, "digest 2"), last: nil)
        #expect(try test.store.perform(grow) == .outputTaken(by: "second"))
        #expect(try test.state() == before, "the rejected call must not write")
        _ = try test.store.perform(test.store.forget("second", unfinished: true))
        #expect(try test.store.perform(grow) == .grown)
        #expect(try test.state().outputs == ["/photos": first])
    }
}
