import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Batches whose data in Redis contradict each other, as after a torn append-only file, and their repair.
@Suite(.redisServer) struct RepairTests {
    let test: TestStore

    init() throws { test = try TestStore() }

    private var store: BatchStore { test.store }

    /// Performs all steps of a check. Returns the batches that were repaired.
    @discardableResult
    private func repair(_ ids: BatchID...) throws -> [BatchID] {
        let result = try store.repair(ids, steps: 1000)
        #expect(!result.hasMore)
        return result.repaired
    }

    private func counters(_ id: BatchID) throws -> BatchFacts { try #require(try store.facts(of: id)) }

    @Test func soundBatchesAreNotChanged() throws {
        let first = try test.submit("first", operations: 3)
        try test.submit("second", operations: 2, after: [first])
        let held = try test.claim(operations: 2)
        try test.report(held[0].held, "FaD")
        let before = try test.state()
        #expect(try repair(first) == [])
        #expect(try test.state() == before)
    }

    /// Half a claim: the operation is in no queue, and no worker holds it.
    @Test func lostOperationIsQueuedAgain() throws {
        let id = try test.submit(operations: 4)
        try repair()
        try test.command("ZREM", store.keys.queue(id), "2")
        #expect(try repair() == [id])
        #expect(try test.batch(id).queue == [1, 2, 3, 4])
        try test.develop()
        #expect(try counters(id).succeeded)
    }

    /// Half a claim that took the batch out of its ready queue.
    @Test func batchEntersItsReadyQueueAgain() throws {
        let id = try test.submit(operations: 2)
        try repair()
        try test.command("ZREM", store.keys.ready(.normal), "\(id)")
        #expect(try repair() == [id])
        try test.develop()
        #expect(try counters(id).succeeded)
    }

    /// A list was fed, but the last of its state codes are lost.
    @Test func photosWithoutAStateCodeAreNew() throws {
        let id = try test.submit(operations: 4)
        try repair()
        for codes in ["", "NNNN"] {
            try test.command("SET", store.keys.states(id), codes)
            #expect(try repair(id) == [id], "\(codes)")
            #expect(try test.batch(id).stateCodes == Array(repeating: UInt8(ascii: "N"), count: 12), "\(codes)")
        }
        try test.develop()
        #expect(try counters(id).succeeded)
    }

    /// Half a report: the codes are final, and the counters are not.
    @Test func countersFollowTheStateCodes() throws {
        let id = try test.submit(operations: 3)
        let held = try test.claim(operations: 2)
        try test.command("SETRANGE", store.keys.states(id), "0", "FFb")
        try test.command("HINCRBY", store.keys.reasons(id), "b", "1")
        #expect(try repair(id) == [id])
        let facts = try counters(id)
        #expect(facts.counts.filtered == 2 && facts.counts.failed == 1 && facts.failures == [.schemeDenied: 1])
        // The worker still holds both operations.
        #expect(try test.command("HLEN", store.keys.executing(id)) == .integer(2))
        try test.report(held[0].held, "FFF")
        try test.report(held[1].held, "FFF")
        try test.develop()
        #expect(try counters(id).state == .finished)
        _ = try test.state()
    }

    /// The last report of a batch whose counters are wrong does not finish it: nobody may see wrong counts as final.
    @Test func batchWithWrongCountersFinishesAfterItsRepair() throws {
        let id = try test.submit(operations: 2)
        let held = try test.claim(operations: 2)
        try test.command("HINCRBY", store.keys.batch(id), "count.filtered", "1")
        for operation in held { try test.report(operation.held, "FFF") }
        #expect(try counters(id).state == .executing)
        #expect(try repair() == [id])
        #expect(try counters(id).succeeded && counters(id).counts.filtered == 6)
        _ = try test.state()
    }

    /// With a negative counter, the batch would count as gone, and its workers would not learn that it is cancelled.
    @Test func negativeCounterOfACancelledBatchIsCorrected() throws {
        let id = try test.submit(operations: 2)
        let held = try test.claim(operations: 1)[0].held
        _ = try store.perform(store.cancel(id))
        try test.command("HINCRBY", store.keys.batch(id), "operations.kept", "-3")
        #expect(try repair() == [id])
        #expect(try test.report(held, "FFF") == .cancelled(stateCodes: Array("CCC".utf8)))
        #expect(try store.perform(store.release(held, worker: "worker")) == .cancelled(stateCodes: Array("CCC".utf8)))
        try test.command("HINCRBY", store.keys.batch(id), "operations.kept", "-3")
        #expect(try repair() == [id])
        #expect(try repair() == [])
    }

    @Test(arguments: ["executing", "operations.ended", "count.filtered", "count.failed", "operations.kept"])
    func damagedCounterIsReplaced(field: String) throws {
        for value in ["-7", "x", "", "1e9", "4000000"] {
            let id = try test.submit("batch-\(value.count)", operations: 3)
            let held = try test.claim(operations: 1)
            try test.report(held[0].held, "FaF")
            try test.command("HSET", store.keys.batch(id), field, value)
            // The other batches of this test are finished.
            #expect(try repair(id) == [id], "\(field) is \(value)")
            _ = try test.state()
            try test.develop()
            #expect(try counters(id).state == .finished)
        }
    }

    /// In a cancelled batch with an executing operation, the counter of ended operations and the state are repaired.
    @Test(arguments: [false, true]) func cancelledBatchIsCounted(isFinished: Bool) throws {
        let id = try test.submit(operations: 4)
        let held = try test.claim(operations: 1)[0].held
        _ = try store.perform(store.cancel(id))
        try repair()
        let before = try test.state()
        try test.command("HINCRBY", store.keys.batch(id), "operations.ended", "1")
        if isFinished { try test.command("HSET", store.keys.batch(id), "state", "finished", "finished", "1") }
        #expect(try repair() == [id])
        #expect(try test.state() == before)
        #expect(try repair() == [])
        _ = try store.perform(store.release(held, worker: "worker"))
        #expect(try counters(id).state == .finished)
    }

    /// Workers change states and counters while a check is in progress.
    @Test func workersMayReportDuringACheck() throws {
        let id = try test.submit(size: 100, operations: 200)
        try repair()
        try test.command("HINCRBY", store.keys.batch(id), "count.filtered", "11")
        var isDone = false
        var held = try test.claim(operations: 16)
        _ = try store.perform(store.repair(id))
        var steps = 0
        while !isDone {
            let reply = try store.perform(store.repair())
            steps += 1
            if let next = held.popLast() {
                // Both in the part that was already checked and in the other part.
                try test.report(next.held, String(repeating: "Fa", count: 50))
            } else {
                held = try test.claim(operations: 4).reversed()
            }
            isDone = reply.checked == id
            if isDone { #expect(reply.repairs > 0) }
        }
        #expect(steps > 3)
        _ = try test.state()
        #expect(try repair(id) == [])
    }

    @Test func executingOperationWithoutALeaseGetsOne() throws {
        let id = try test.submit(operations: 1)
        let held = try test.claim()
        try test.command("DEL", store.keys.leases)
        #expect(try repair(id) == [id])
        // The worker that holds the operation renews the lease.
        #expect(try test.heartbeat("worker", held: held.map(\.held)) == [])
        try test.pass(seconds: 1000)
        try test.heartbeat()
        #expect(try test.batch(id).queue == [1])
    }

    /// No worker can run an operation whose photos Redis has lost. They fail with a text, so that the batch ends.
    @Test func photosOfALostEntryFail() throws {
        let id = try test.submit(operations: 3)
        try repair()
        try test.command("HDEL", store.keys.operations(id), "2")
        #expect(try repair() == [id])
        try test.develop()
        let facts = try counters(id)
        #expect(facts.state == .finished && facts.counts.filtered == 6 && facts.failures == [.other: 3])
        #expect(try test.batch(id).failures[3]?.contains("Redis lost the operation") == true)
        #expect(try store.perform(store.restoreEntry(id, operation: 2, entry: [1, 2, 3])) == .restored)
        _ = try store.perform(store.retry(id, from: 1, through: 3))
        try test.develop()
        #expect(try counters(id).succeeded)
    }

    /// A server that has started may have loaded a torn file: all batches are checked completely.
    @Test func allBatchesAreCheckedAfterAStart() throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes"])
        defer { server.stop() }
        let test = try TestStore(server)
        let id = try test.submit(operations: 4)
        #expect(try !test.store.repair(steps: 100).hasMore)
        // Only a complete check finds these codes: the counters agree with each other.
        try test.command("SETRANGE", test.store.keys.states(id), "0", "F")
        #expect(try test.store.repair(steps: 100).repaired == [])
        server.terminate()
        try server.restart()
        try test.store.connection.connect()
        let beat = try test.store.perform(test.store.heartbeat(worker: "w"))
        #expect(beat.isRepairDue)
        #expect(try test.store.repair(steps: 100).repaired == [id])
        #expect(try test.store.facts(of: id)?.counts.filtered == 1)
    }

    @Test func problemNamesOperationsInNoQueue() throws {
        let id = try test.submit(operations: 4)
        try repair()
        try test.command("ZREM", store.keys.queue(id), "2", "3")
        let facts = try counters(id)
        let problems = try store.problems(of: [facts], now: try store.time()).of(facts)
        let problem = try #require(problems.first { $0.code == .inconsistent })
        #expect(problem.text.contains("2 operations of 4 are in no queue"))
        // Looking at the problems has begun the repair.
        #expect(try !store.repair(steps: 100).hasMore)
        #expect(try test.batch(id).queue == [1, 2, 3, 4])
        let later = try store.problems(of: [facts], now: try store.time()).of(facts)
        #expect(!later.contains { $0.code == .inconsistent })
    }

    /// Redis replies with an error to scripts that write, and to no other.
    @Test func problemsAreShownIfRedisCannotBeWritten() throws {
        let id = try test.submit(operations: 4)
        try repair()
        try test.command("ZREM", store.keys.queue(id), "2")
        try test.command("CONFIG", "SET", "min-replicas-to-write", "1")
        defer { _ = try? test.command("CONFIG", "SET", "min-replicas-to-write", "0") }
        let facts = try counters(id)
        let problems = try store.problems(of: [facts], now: try store.time()).of(facts)
        #expect(problems.contains { $0.code == .inconsistent })
    }

    @Test func aCheckOfManyBatchesEnds() throws {
        for number in 1...230 { try test.submit("batch-\(number)", operations: 1) }
        #expect(try repair() == [])
        try test.command("ZREM", store.keys.queue("batch-229"), "1")
        // Each round compares the counters of 100 batches.
        let repaired = try (1...4).flatMap { _ in try repair() }
        #expect(repaired == ["batch-229"])
    }

    @Test func forgottenBatchEndsItsCheck() throws {
        let id = try test.submit(size: 1, operations: 600)
        _ = try store.perform(store.repair(id))
        _ = try store.perform(store.repair())
        while try store.perform(store.forget(id, unfinished: true)) == .more {}
        #expect(try repair() == [])
        let keys = try test.command("EXISTS", store.keys.repair, store.keys.repairStates, store.keys.batch(id))
        #expect(keys == .integer(0))
    }

    // MARK: - Data that were changed from outside

    /// Nothing that others write into the data of the check itself ends the checks of other batches.
    @Test(arguments: [
        ["HSET", "repair", "next", "abc"], ["HSET", "repair", "next", "1e300"], ["HDEL", "repair", "next"],
        ["HSET", "repair", "photos", "x"], ["HSET", "repair", "found:count.filtered", "x"],
        ["HSET", "repair", "repairs", "x"], ["HSET", "repair", "batch", "no batch"], ["SET", "repair", "text"],
        ["SET", "repair.round", "text"], ["SET", "repair.wanted", "text"], ["DEL", "repair.states"],
        ["HSET", "repair.round", "time", "x", "batch", "y"],
    ])
    func damagedCheckBeginsAnew(words: [String]) throws {
        let id = try test.submit(operations: 600)
        let other = try test.submit("other", operations: 3)
        try repair()
        try test.command("ZREM", store.keys.queue(id), "7")
        _ = try store.perform(store.repair(id))
        _ = try store.perform(store.repair())
        try test.command([words[0], store.keys.prefix + words[1]] + words.dropFirst(2))
        let steps = try store.repair(steps: 1000)
        #expect(!steps.hasMore && steps.skipped.allSatisfy { !$0.error.isEmpty })
        try test.command("ZREM", store.keys.queue(id), "8")
        try test.command("ZREM", store.keys.queue(other), "2")
        let repaired = try store.repair([id, other], steps: 1000)
        #expect(Set(repaired.repaired) == [id, other] && repaired.skipped == [])
        _ = try test.state()
    }

    /// More values than Lua passes to a command.
    @Test func manyPhotosOfLostEntriesFail() throws {
        let id = try test.submit(size: 100, operations: 120)
        try repair()
        try test.command("DEL", store.keys.operations(id))
        #expect(try repair() == [id])
        let facts = try counters(id)
        #expect(facts.state == .finished && facts.failures == [.other: 12_000] && facts.counts.failed == 12_000)
        #expect(try test.command("HLEN", store.keys.failures(id)) == .integer(10_000))
        #expect(try repair(id) == [])
    }

    /// Codes that no version writes, such as a hole of zero bytes.
    @Test(arguments: ["!!", "Z\u{0}", "\u{0}\u{0}"]) func photosWithAnUnknownStateCodeAreNew(codes: String) throws {
        let id = try test.submit(operations: 3)
        let held = try test.claim(operations: 1)[0].held
        try test.report(held, "FFa")
        try repair()
        try test.command("SETRANGE", store.keys.states(id), "4", codes)
        #expect(try repair(id) == [id])
        #expect(try test.batch(id).stateCodes == Array("FFaNNNNNN".utf8))
        try test.develop()
        #expect(try counters(id).counts.filtered == 8 && counters(id).counts.failed == 1)
    }

    @Test func memberWithoutANameIsSkipped() throws {
        let id = try test.submit(operations: 3)
        try test.command("ZADD", store.keys.batches, "9e15", "")
        try test.command("ZADD", store.keys.batches, "-1", "")
        try test.command("ZREM", store.keys.queue(id), "2")
        #expect(try repair() == [id])
        try test.command("ZADD", store.keys.batches, "9e15", "")
        #expect(try repair() == [])
    }

    @Test func batchWithMoreOperationsThanPhotosEndsItsCheck() throws {
        let id = try test.submit(operations: 3)
        let other = try test.submit("other", operations: 3)
        try repair()
        try test.command("HSET", store.keys.batch(id), "operations", "500000000")
        try test.command("ZREM", store.keys.queue(other), "2")
        #expect(try repair() == [other])
    }

    // MARK: - Torn submissions and removals

    private static let folder = "/srv/photos"

    /// Redis has loaded only the options of the batch, and its folder.
    private func tearOptions() throws -> BatchID {
        let id = try test.submit("torn") { $0.output = Self.folder }
        try test.command("ZREM", store.keys.batches, "\(id)")
        try test.command(
            "HDEL", store.keys.batch(id), "state", "submitted", "photos", "operations", "feed.digest", "sealed")
        return id
    }

    private var options: BatchOptions {
        var options = BatchOptions()
        options.operationSize = 3
        options.output = Self.folder
        return options
    }

    @Test func tornSubmissionIsCompletedByTheNext() throws {
        let id = try tearOptions()
        guard case .submitted = try store.perform(store.submit(id, options)) else {
            Issue.record("the batch was not submitted again")
            return
        }
        #expect(try store.perform(test.feeding(id, 1, photos: 3)) == .fed)
        #expect(try store.perform(store.seal(id, operations: 1, photos: 3)) == .sealed)
        try test.develop()
        #expect(try counters(id).succeeded && store.batchIDs() == [id])
    }

    @Test func tornSubmissionTakesNoFolder() throws {
        _ = try tearOptions()
        let reply = try store.perform(store.submit("other", options))
        guard case .submitted = reply else {
            Issue.record("\(reply)")
            return
        }
    }

    /// Redis has loaded the batch, but not its entry in the set of all batches.
    @Test(arguments: [true, false]) func batchThatIsNotListedIsListedAgain(bySubmission: Bool) throws {
        let id = try test.submit(sealed: false) { $0.output = Self.folder }
        let submitted = try test.command("ZSCORE", store.keys.batches, "\(id)")
        try test.command("ZREM", store.keys.batches, "\(id)")
        if bySubmission {
            #expect(try store.perform(store.submit(id, options)) == .exists)
        } else {
            #expect(try store.perform(test.feeding(id, 1, photos: 3)) == .fed)
        }
        #expect(try test.command("ZSCORE", store.keys.batches, "\(id)") == submitted)
        _ = try test.state()
    }

    /// Redis has loaded only the first step of forgetting the batch.
    @Test func tornRemovalIsCompleted() throws {
        let id = try test.submit(operations: 3) { $0.output = Self.folder }
        try repair()
        try test.command("HDEL", store.keys.batch(id), "state")
        try repair(id)
        try test.heartbeat()
        #expect(try store.batchIDs() == [] && test.command("HLEN", store.keys.outputs) == .integer(0))
    }

    /// A key of another type hides the fields of the batch. Only a user may forget it.
    @Test func batchWithAKeyOfAnotherTypeStays() throws {
        let id = try test.submit(operations: 3)
        try repair()
        try test.command("SET", store.keys.reasons(id), "text")
        try repair(id)
        try test.heartbeat()
        try test.command("DEL", store.keys.repairRound)
        try repair()
        try test.heartbeat()
        #expect(try store.batchIDs() == [id] && test.command("ZCARD", store.keys.expiring) == .integer(0))
        try test.command("DEL", store.keys.reasons(id))
        try test.develop()
        #expect(try counters(id).succeeded)
    }
}
