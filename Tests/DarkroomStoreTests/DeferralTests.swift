import DarkroomHosts
import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Operations whose photos wait long for their next attempt are queued, but cannot be claimed before that.
@Suite(.redisServer) struct DeferralTests {
    /// Claims and defers the operations of a batch.
    private func deferred(
        _ test: TestStore, operations: Int = 1, for seconds: [Int] = [60],
        _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        let id = try test.submit(operations: operations, change)
        for (claimed, seconds) in zip(try test.claim(), seconds) { try release(test, claimed.held, for: seconds) }
        return id
    }

    private func release(
        _ test: TestStore, _ held: HeldOperation, for seconds: Int, retries: [Int: RetryHistory] = [:]
    ) throws {
        let call = test.store.release(held, worker: "worker", after: .seconds(seconds), retries: retries)
        #expect(try test.store.perform(call) == .queued)
    }

    private func numbers(_ test: TestStore, _ worker: String = "worker") throws -> [Int] {
        try test.claim(worker).map(\.held.number)
    }

    /// Advances the retention clock.
    private func pass(_ test: TestStore, seconds: Int) throws {
        try test.command("HINCRBY", test.store.keys.control, "retention.clock", "\(seconds * 1000)")
    }

    @Test func operationIsClaimedWhenItIsDue() throws {
        let test = try TestStore()
        let id = try deferred(test, operations: 3, for: [60, 20, 40])
        #expect(try numbers(test).isEmpty)
        #expect(try test.batch(id).queue == [1, 2, 3] && test.state().readyQueues.isEmpty)
        for (seconds, number) in [(21, 2), (20, 3), (20, 1)] {
            try pass(test, seconds: seconds)
            try test.heartbeat()
            #expect(try test.state().readyQueues[.normal]?.inTurn == [id])
            #expect(try numbers(test, "other") == [number])
        }
        #expect(try test.state().deferred.isEmpty)
    }

    @Test func otherOperationsAreClaimedMeanwhile() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3)
        try release(test, test.claim(operations: 1)[0].held, for: 60)
        #expect(try test.state().readyQueues[.normal]?.inTurn == [id])
        #expect(try numbers(test) == [2, 3])
        #expect(try test.state().readyQueues.isEmpty)
        // Operations that are fed later can be claimed at once.
        let growing = try test.submit("growing", operations: 1, sealed: false)
        try release(test, test.claim(operations: 1)[0].held, for: 60)
        #expect(try test.store.perform(test.feeding(growing, 2, photos: 3)) == .fed)
        #expect(try numbers(test) == [2])
    }

    @Test func priorityAndFocusHoldForDeferredOperations() throws {
        let test = try TestStore()
        let id = try deferred(test, operations: 3, for: [60, 60, 60])
        #expect(try test.store.perform(test.store.prioritize(id, .veryHigh)) == .done(isNew: true))
        let focus = BatchControls.Focus(6...8, only: true)
        #expect(try test.store.perform(test.store.focus(id, focus)) == .done(isNew: true, photos: 9))
        #expect(try numbers(test).isEmpty, "a focus does not make photos due")
        try pass(test, seconds: 61)
        try test.heartbeat()
        #expect(try test.state().readyQueues[.veryHigh]?.inTurn == [id])
        #expect(try numbers(test) == [3])
    }

    @Test func suspendedBatchIsNotClaimedWhenItIsDue() throws {
        let test = try TestStore()
        let id = try deferred(test)
        _ = try test.store.perform(test.store.suspend(id, .everything, true))
        try pass(test, seconds: 61)
        try test.heartbeat()
        #expect(try numbers(test).isEmpty)
        _ = try test.store.perform(test.store.suspend(id, .everything, false))
        #expect(try numbers(test) == [1])
    }

    @Test func cancelAndForgetRemoveEverything() throws {
        let test = try TestStore()
        let cancelled = try deferred(test, operations: 2, for: [60, 60])
        guard case .cancelled(true, isFinished: true) = try test.store.perform(test.store.cancel(cancelled)) else {
            throw TestFailure(description: "the batch is not finished by its cancellation")
        }
        #expect(try test.batch(cancelled).queue.isEmpty && test.state().deferred.isEmpty)
        let forgotten = try test.submit("forgotten", operations: 1)
        var history = RetryHistory()
        history.attempts = 3
        try release(test, test.claim()[0].held, for: 60, retries: [0: history])
        #expect(try test.store.perform(test.store.forget(forgotten, unfinished: true)) == .forgotten)
        let state = try test.state()
        #expect(state.deferred.isEmpty && state.batches[forgotten] == nil)
    }

    @Test func cancelledPhotosEndADeferredOperationAtOnce() throws {
        let test = try TestStore()
        let id = try deferred(test)
        #expect(try test.store.perform(test.store.cancelPhotos(id, [0...2])) == .cancelled(3, wereFinal: 0))
        #expect(try test.batch(id).state == .finished)
        // A worker must write the lines of the manifest.
        let written = try test.submit("written", operations: 1) { $0.output = "/out" }
        try release(test, test.claim()[0].held, for: 60)
        #expect(try test.store.perform(test.store.cancelPhotos(written, [0...2])) == .cancelled(3, wereFinal: 0))
        #expect(try numbers(test) == [1])
    }

    @Test func nextWorkerGetsTheRetriesAndTheTimeSinceThen() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        var history = RetryHistory()
        history.attempts = 4
        history.failures = RetryHistory.Failures(since: .now - .seconds(30), count: 2)
        try release(test, test.claim()[0].held, for: 60, retries: [2: history])
        try pass(test, seconds: 65)
        let claimed = try test.claim("other")[0]
        let (histories, released) = claimed.retryHistories
        let known = try #require(histories[2])
        #expect(histories.count == 1 && known.attempts == 4 && known.failures?.count == 2)
        #expect(ContinuousClock.now - released >= .seconds(65))
        #expect(released - (try #require(known.failures?.since)) >= .seconds(30))
        try test.report(claimed.held, "FFF", worker: "other")
        #expect(try test.batch(id).retries.isEmpty)
    }

    /// The lost worker may have had an answer of the host.
    @Test func lostWorkerLeavesNoRetries() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        var history = RetryHistory()
        history.attempts = 4
        try release(test, test.claim()[0].held, for: 0, retries: [0: history])
        #expect(try !test.claim()[0].retries.isEmpty)
        try test.pass(seconds: 16)
        try test.heartbeat()
        #expect(try test.batch(id).retries.isEmpty)
        try release(test, test.claim()[0].held, for: 0, retries: [0: history])
        try release(test, test.claim()[0].held, for: 0)
        #expect(try test.claim()[0].retries.isEmpty, "the last worker knew nothing")
    }

    @Test func retryOfTheUserForgetsTheRetriesOfWorkers() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        var history = RetryHistory()
        history.attempts = 4
        try release(test, test.claim()[0].held, for: 0, retries: [0: history])
        try test.report(test.claim()[0].held, "aFF")
        _ = try test.store.perform(test.store.retry(id))
        #expect(try test.claim()[0].retries.isEmpty)
    }

    @Test func longDelayIsAnHour() throws {
        let test = try TestStore()
        let id = try deferred(test, for: [31_600_000])
        let due = try #require(try test.store.facts(of: id)?.deferral?.due)
        #expect(due - (try test.store.time()) <= 3_600_000)
    }

    /// As after a loss of the hash `control`.
    @Test func operationsAreDueIfTheClockWasSetBack() throws {
        let test = try TestStore()
        try pass(test, seconds: 100_000)
        _ = try deferred(test)
        try test.command("HSET", test.store.keys.control, "retention.clock", "0")
        try test.heartbeat()
        #expect(try numbers(test) == [1])
    }

    @Test func damagedQueueHindersNobody() throws {
        let test = try TestStore()
        let id = try deferred(test)
        let other = try test.submit("other", operations: 1)
        let queue = test.store.keys.queue(id), due = "\(Keys.deferredScore)"
        for member in ["x", "-3", "99999999999", "nan", "inf", "2e12", "99999999999999", "1.5", ""] {
            try test.command("ZADD", queue, due, member)
        }
        try test.command("ZADD", test.store.keys.deferred, "0", "no batch", "0", "\(id)")
        try test.heartbeat()
        #expect(try Set(test.claim().map(\.held.batch)) == [other])
        try pass(test, seconds: 61)
        #expect(try !test.store.perform(test.store.heartbeat(worker: nil)).hasMore)
        #expect(try test.claim().map(\.held.batch) == [id])
        #expect(try test.command("ZCARD", queue) == .integer(0))
    }

    @Test func manyBatchesAreResumedInSteps() throws {
        let test = try TestStore()
        for number in 1...25 {
            let id = try test.submit("batch-\(number)", operations: 4)
            for claimed in try test.claim() where claimed.held.batch == id { try release(test, claimed.held, for: 30) }
        }
        try pass(test, seconds: 31)
        var calls = 0
        repeat { calls += 1 } while try test.store.perform(test.store.heartbeat(worker: nil)).hasMore
        #expect(calls == 3)
        var claimed = 0
        while case let operations = try test.claim(), !operations.isEmpty { claimed += operations.count }
        #expect(claimed == 100)
    }

    @Test func statusTellsWhenOperationsAreDue() throws {
        let test = try TestStore()
        let id = try deferred(test, operations: 3, for: [60, 20, 40])
        let deferral = try #require(try test.store.facts(of: id)?.deferral)
        #expect(deferral.operations == 3)
        let now = try test.store.time()
        #expect((1...20_000).contains(deferral.millisecondsLeft(now: now)))
        #expect(deferral.text(now: now).hasPrefix("3 operations wait for the next attempt to download, in "))
        #expect(try test.store.facts(of: id)?.deferral == deferral, "followers would see a change at each reading")
        _ = try test.store.perform(test.store.cancel(id))
        #expect(try test.store.facts(of: id)?.deferral == nil)
    }
}
