import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct ClaimTests {
    @Test func claimTakesOperationsOfSeveralBatches() throws {
        let test = try TestStore()
        try test.submit("huge", size: 50, operations: 200)
        try test.submit("small", size: 50, operations: 3)
        let batches = try test.claim(operations: 16, photos: 800).map(\.held.batch.description)
        #expect(batches == Array(repeating: "huge", count: 8) + Array(repeating: "small", count: 3))
    }

    @Test func largeBatchDoesNotDelayASmallOne() throws {
        let test = try TestStore()
        try test.submit("huge", size: 50, operations: 100)
        for _ in 1...10 { _ = try test.claim(operations: 1) }
        try test.submit("small", size: 50, operations: 3)
        let batches = try (1...6).map { _ in try test.claim(operations: 1)[0].held.batch.description }
        #expect(batches == ["huge", "small", "huge", "small", "huge", "small"])
        _ = try test.state()
    }

    @Test func batchesShareByPhotosNotOperations() throws {
        let test = try TestStore()
        try test.submit("large", size: 100, operations: 20)
        try test.submit("fine", size: 10, operations: 20)
        let claimed = try test.claim(operations: 16, photos: 200)
        #expect(claimed.filter { $0.held.batch.description == "large" }.count == 1)
        #expect(claimed.filter { $0.held.batch.description == "fine" }.count == 10)
    }

    @Test func limitsTheSizeOfAClaim() throws {
        let test = try TestStore()
        try test.submit(size: 1000, operations: 6)
        #expect(try test.claim("photos").count == 4)
        #expect(try test.claim("one at least", photos: 1).count == 1)
        try test.submit("fine", size: 1, operations: 30)
        #expect(try test.claim("operations").count == 16)
        _ = try test.state()
    }

    @Test func claimsHigherPrioritiesFirst() throws {
        let test = try TestStore()
        for priority in [BatchPriority.low, .veryHigh, .normal] {
            try test.submit(priority.rawValue, operations: 1) { $0.priority = priority }
        }
        let call = test.store.claim(worker: "choosy", number: 1, operations: 1, lowest: .high)
        let first = try test.claimed(call).operations
        #expect(first.map(\.held.batch.description) == ["veryHigh"])
        let again = test.store.claim(worker: "choosy", number: 2, lowest: .high)
        #expect(try test.claimed(again) == ([], ""))
        #expect(try test.claim().map(\.held.batch.description) == ["normal", "low"])
    }

    @Test func repeatedClaimReturnsTheOperationsThatAreStillHeld() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 4)
        let call = test.store.claim(worker: "worker", number: 7, operations: 3)
        let first = try test.claimed(call).operations
        let state = try test.state()
        #expect(try test.claimed(call) == (first, ""))
        #expect(try test.state().batches == state.batches)

        _ = try test.store.perform(test.store.release(first[0].held, worker: "worker"))
        try test.report(first[1].held, "F.D")
        let rest = first[1...].map {
            $0.held.number == 2
                ? ClaimedOperation(held: $0.held, stateCodes: Array("FND".utf8), leaseExpiries: 0, entry: $0.entry) : $0
        }
        #expect(try test.claimed(call) == (Array(rest), ""))
        #expect(try test.claim("other").map(\.held.number) == [1, 4])
        #expect(try test.claimed(call) == (Array(rest), ""))
        #expect(try test.store.perform(test.store.claim(worker: "worker", number: 6)) == .old)
        #expect(try test.batch(id).queue.isEmpty)
    }

    @Test func fencingTokensIncreaseWithinAMillisecond() throws {
        let test = try TestStore()
        try test.submit(size: 1, operations: 100)
        let calls = (1...100).map { test.store.claim(worker: "worker", number: $0, operations: 1) }
        let tokens = try test.store.perform(calls).flatMap { reply -> [Int] in
            guard case .claimed(let claimed) = reply else { return [] }
            return claimed.operations.map(\.held.fencingToken)
        }
        #expect(tokens.count == 100)
        #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func claimContinuesPastExcludedBatches() throws {
        let test = try TestStore()
        let ids = try (1...250).map { try test.submit("batch-\($0)", size: 1, operations: 1) }
        let without = Array(ids.prefix(100))
        let call = test.store.claim(worker: "worker", number: 1, operations: 90, without: without)
        #expect(try test.claimed(call).operations.map(\.held.batch) == Array(ids[100..<190]))
        let again = test.store.claim(worker: "worker", number: 2, operations: 90, without: without)
        #expect(try test.claimed(again).operations.map(\.held.batch) == Array(ids[190...]))
        _ = try test.state()
    }

    @Test func claimContinuesPastRefusedBatches() throws {
        let test = try TestStore()
        let prior = try (1...1050).map {
            try test.submit("prior-\($0)", size: 1, operations: 1) { $0.priority = .high }
        }
        try test.submit("normal", size: 1, operations: 3)
        var number = 0
        func claim(_ changes: RefusalChanges = RefusalChanges(), next: String = "") throws -> Claimed {
            number += 1
            let call = test.store.claim(
                worker: "worker", number: number, operations: 1, next: next, refusals: changes)
            guard case .claimed(let claimed) = try test.store.perform(call) else {
                throw TestFailure(description: "the reply to the claim is OLD")
            }
            return claimed
        }
        // One call reads at most 1,000 entries of the ready queues.
        let first = try claim(RefusalChanges(added: Array(prior.prefix(1000))))
        #expect(first.operations.isEmpty && first.next != "" && first.refusals == 1000)
        let second = try claim(RefusalChanges(added: Array(prior.suffix(50))), next: first.next)
        #expect(second.operations.map(\.held.batch.description) == ["normal"])
        #expect(second.refusals == 1050)
        // Redis stores the refusals.
        let third = try claim(next: try claim().next)
        #expect(third.operations.map(\.held.batch.description) == ["normal"])
        let fourth = try claim(RefusalChanges(removed: [prior[7]]))
        #expect(fourth.operations.map(\.held.batch) == [prior[7]])
        #expect(try test.state().refusals["worker"]?.count == 1049)
        let fifth = try claim(RefusalChanges(replacesAll: true, added: [prior[0]]))
        #expect(fifth.operations.map(\.held.batch) == [prior[1]])
        #expect(try test.state().refusals["worker"] == [prior[0]])
        // Redis removes the refusals together with the worker.
        _ = try test.store.perform(test.store.leave(worker: "worker"))
        #expect(try test.state().refusals.isEmpty)
    }

    @Test func removalOfAWorkerRemovesItsRefusals() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let call = test.store.claim(worker: "worker", number: 1, refusals: RefusalChanges(added: [id]))
        #expect(try test.claimed(call).operations.isEmpty)
        try test.command("ZADD", test.store.keys.workers, "1", "worker")
        try test.heartbeat("other")
        #expect(try test.state().refusals.isEmpty)
    }

    @Test func turnOfTheReadyQueuesChangesWhenABatchEntersAQueue() throws {
        let test = try TestStore()
        func turns() throws -> [Int] {
            [
                try test.store.perform(test.store.heartbeat(worker: "w")).turn,
                try test.store.perform(test.store.heartbeat(worker: nil)).turn,
            ]
        }
        let first = try turns()
        #expect(first == [0, 0])
        let held = try test.submit(operations: 1)
        let second = try turns()
        #expect(second[0] > 0 && second[0] == second[1])
        let operation = try test.claim()[0].held
        #expect(operation.batch == held)
        #expect(try turns() == second)
        _ = try test.store.perform(test.store.release(operation, worker: "worker"))
        #expect(try turns()[0] > second[0])
    }

    /// Otherwise idle workers that refuse the batch would claim in vain after each claim of another worker.
    @Test func turnDoesNotChangeIfABatchStaysInItsQueue() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 8, sealed: false)
        let turn = try test.store.perform(test.store.heartbeat(worker: "idle")).turn
        for _ in 1...4 { #expect(try test.claim(operations: 1).count == 1) }
        #expect(try test.store.perform(test.store.feed(id, operation: 9, photos: 1, entry: [1], digest: "d")) == .fed)
        #expect(try test.store.perform(test.store.heartbeat(worker: "idle")).turn == turn)
    }

    @Test func batchWithoutPriorityAffectsNoOtherCall() throws {
        let test = try TestStore()
        let damaged = try test.submit("damaged", operations: 3)
        let dependent = try test.submit("dependent", operations: 1, after: [damaged]) { $0.afterSuccess = true }
        let held = try test.claim(operations: 2)
        for id in [damaged, dependent] { try test.command("HDEL", test.store.keys.batch(id), "priority") }
        try test.pass(seconds: 100)
        try test.heartbeat("other")
        #expect(try test.claim("other").count == 3)
        #expect(try test.store.perform(test.store.release(held[0].held, worker: "worker")) == .lost)
        #expect(try test.store.perform(test.store.prioritize(damaged, .normal)) == .done(isNew: true))
        try test.command("HDEL", test.store.keys.batch(damaged), "priority")
        #expect(try test.store.perform(test.store.suspend(damaged, .everything, true)) == .done(isNew: true))
        guard case .cancelled = try test.store.perform(test.store.cancel(damaged)) else {
            throw TestFailure(description: "the batch was not cancelled")
        }
    }

    /// The clock of the Redis server was set back: a worker that has ended since then must not count as running.
    @Test func heartbeatInTheFutureCountsAsNow() throws {
        let test = try TestStore()
        for worker in ["ended", "running"] { try test.heartbeat(worker) }
        let now = try test.store.time()
        try test.command("ZADD", test.store.keys.workers, "\(now + 7_200_000)", "ended")
        let ended = try #require(try test.store.workers().first { $0.id == "ended" })
        #expect(!ended.isLiving(now: now))
        #expect(ended.seenText(now: now) == "lost, seen before the clock of Redis was set back")
        try test.heartbeat("running")
        let seen = try #require(try test.store.workers().first { $0.id == "ended" }).seen
        #expect(seen >= now && seen <= now + 3_600_000)
        #expect(ended.seenText(now: ended.seen + 1000) == "\(HumanText.duration(1)) ago")
    }

    /// The live pages read the facts of a thousand workers every second.
    @Test func workersThatHaveSentNothingAreNotReadAgain() throws {
        let test = try TestStore()
        func host(_ problems: BatchProblems) -> String? { problems.workers.first?.fields["host"] }
        _ = try test.store.perform(test.store.heartbeat(worker: "w", facts: [("host", "first")]))
        let seen = try #require(try test.store.workers().first).seen
        while try test.store.time() <= seen {}
        let early = try test.store.problems(of: [], now: seen)
        let settled = try test.store.problems(of: [], now: try test.store.time(), after: early)
        try test.command("HSET", test.store.keys.worker("w"), "host", "second")
        #expect(host(try test.store.problems(of: [], now: settled.now, after: settled)) == "first")
        // `early` was read in the millisecond of the heartbeat. Another heartbeat may have followed in this millisecond,
        // so the worker is read again.
        #expect(host(try test.store.problems(of: [], now: settled.now, after: early)) == "second")
        _ = try test.store.perform(test.store.heartbeat(worker: "w", facts: [("host", "third")]))
        #expect(host(try test.store.problems(of: [], now: settled.now, after: settled)) == "third")
    }

    @Test func allWorkersAreListed() throws {
        let test = try TestStore()
        let calls = (1...1300).map { test.store.heartbeat(worker: "w\($0)") }
        _ = try test.store.perform(calls)
        #expect(try test.store.workers().count == 1300)
    }

    @Test func claimContinuesPast100BatchesWithTooLargeOperations() throws {
        let test = try TestStore()
        // After the first batch, the claim has room for 20 photos, but operations of the large batches have 50.
        try test.submit("first", size: 10, operations: 1) { $0.priority = .veryHigh }
        for number in 1...100 { try test.submit("large-\(number)", size: 50, operations: 1) { $0.priority = .high } }
        let first = try test.claimed(test.store.claim(worker: "worker", number: 1, photos: 30))
        #expect(first.operations.map(\.held.batch.description) == ["first"])
        #expect(first.next != "")
        let call = test.store.claim(worker: "worker", number: 2, photos: 30, next: first.next)
        #expect(try test.claimed(call).operations.map(\.held.batch.description) == ["large-100"])
    }

    @Test func skipsOperationsOfAnInvalidIDAndClaimsOthers() throws {
        let test = try TestStore()
        let good = try test.submit("good", operations: 1)
        let planted = "../../../x/deep"
        for suffix in ["", ":states", ":operations", ":queue"] {
            try test.command(
                "COPY", test.store.keys.batch(good) + suffix, "\(test.store.keys.prefix)batch:\(planted)\(suffix)")
        }
        try test.command("ZADD", test.store.keys.ready(.normal), "0", planted)
        try test.command("ZADD", test.store.keys.batches, "0", planted)
        try test.command("ZADD", test.store.keys.webhooks, "0", planted + " 1")
        guard case .claimed(let claimed) = try test.store.perform(test.store.claim(worker: "worker", number: 1)) else {
            Issue.record("nothing was claimed")
            return
        }
        #expect(claimed.operations.map(\.held.batch) == [good])
        #expect(claimed.invalid == [planted])
        let reply = try test.store.perform(test.store.heartbeat(worker: "worker"))
        #expect(reply.webhooks.isEmpty)
        #expect(try test.store.batchIDs() == [good])
    }
}
