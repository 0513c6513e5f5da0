import DarkroomModel
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct FeedingTests {
    @Test func repeatedPipelinedFeedAddsNothing() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        let feeds = (1...20).map { test.feeding(id, $0, photos: 3) }
        #expect(try test.store.perform(feeds) == Array(repeating: .fed, count: 20))
        let once = try test.batch(id)
        #expect(try test.store.perform(feeds) == Array(repeating: .expects(21), count: 20))
        #expect(try test.batch(id) == once)
        #expect(once.stateCodes.count == 60)
        #expect(once.digest == "digest 20")
    }

    @Test func rejectsFeedsOutOfOrder() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        let feeds = [1, 3, 2, 3].map { test.feeding(id, $0, photos: 3) }
        #expect(try test.store.perform(feeds) == [.fed, .expects(2), .fed, .fed])
        #expect(try test.batch(id).queue == [1, 2, 3])
    }

    @Test func rejectsAnOperationAfterAShortOne() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        let feeds = [(1, 3), (2, 2), (3, 3)].map { test.feeding(id, $0.0, photos: $0.1) }
        #expect(try test.store.perform(feeds) == [.fed, .fed, .short])
        #expect(try test.batch(id).stateCodes.count == 5)
    }

    @Test func rejectsATooLargeOperation() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        for photos in [0, 4] {
            let error = expectError(StoreError.self) { try test.store.perform(test.feeding(id, 1, photos: photos)) }
            #expect(error?.description.contains("an operation of \(photos) photos, 1 to 3 are allowed") == true)
        }
        #expect(try test.batch(id).operations == 0)
    }

    @Test func fullWindowRejectsFeedsUntilAnOperationEnds() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false) { $0.window = 2 }
        let feeds = (1...3).map { test.feeding(id, $0, photos: 3) }
        #expect(try test.store.perform(feeds) == [.fed, .fed, .full])
        try test.report(try test.claim(operations: 1)[0].held, "FFF")
        #expect(try test.store.perform(feeds[2]) == .fed)
    }

    @Test func sealChecksTheTotals() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2, sealed: false)
        #expect(
            try test.store.perform(test.store.seal(id, operations: 2, photos: 5)) == .differs(operations: 2, photos: 6))
        #expect(try test.store.perform(test.store.seal(id, operations: 2, photos: 6)) == .sealed)
        #expect(try test.store.perform(test.store.seal(id, operations: 2, photos: 6)) == .sealed)
        #expect(try test.store.perform(test.feeding(id, 3, photos: 3)) == .sealed)
    }

    @Test func sealFinishesABatchWhoseOperationsHaveEnded() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1, sealed: false)
        try test.report(try test.claim()[0].held, "FFF")
        #expect(try test.batch(id).state == .executing)
        _ = try test.store.perform(test.store.seal(id, operations: 1, photos: 3))
        #expect(try test.batch(id).state == .finished)
        let empty = try test.submit("empty")
        #expect(try test.batch(empty).state == .finished)
    }

    @Test func folderBelongsToOneBatchUnlessOverwritten() throws {
        let test = try TestStore()
        var options = BatchOptions()
        options.output = "/photos"
        let calls = ["first", "second"].map { (id: BatchID) in test.store.submit(id, options) }
        #expect(try test.store.perform(calls)[1] == .outputTaken(by: BatchID("first")))
        #expect(try test.store.perform(calls[0]) == .exists)
        let taken = try test.store.perform(test.store.submit(BatchID("second"), options, overwrite: true))
        guard case .submitted = taken else { throw TestFailure(description: "the folder was not taken: \(taken)") }
        #expect(try test.store.perform(test.store.forget(BatchID("first"), unfinished: true)) == .forgotten)
        #expect(try test.state().outputs == ["/photos": BatchID("second")])
        #expect(try test.store.perform(test.store.forget(BatchID("second"), unfinished: true)) == .forgotten)
        #expect(try test.state().outputs.isEmpty)
    }

    @Test func nameBelongsToOneUnfinishedBatch() throws {
        let test = try TestStore()
        var options = BatchOptions()
        options.name = "holidays"
        func submit(_ id: String) throws -> SubmitReply {
            try test.store.perform(test.store.submit(BatchID(id)!, options))
        }
        // Two concurrent submissions: the script accepts one.
        let calls = ["first", "second"].map { test.store.submit(BatchID($0)!, options) }
        #expect(try test.store.perform(calls)[1] == .nameTaken(by: BatchID("first")))
        #expect(try test.state().batches[BatchID("second")] == nil && submit("first") == .exists)
        _ = try test.store.perform(test.store.seal(BatchID("first"), operations: 0, photos: 0))
        #expect(try submit("second").isSubmitted, "the name of a finished batch must be free")
        #expect(try submit("third") == .nameTaken(by: BatchID("second")))
        // The cancelled batch has not finished, because a worker holds an operation.
        _ = try test.store.perform(test.feeding(BatchID("second"), 1, photos: 1))
        _ = try test.claim()
        _ = try test.store.perform(test.store.cancel(BatchID("second")))
        #expect(try test.batch(BatchID("second")).state == .executing)
        #expect(try submit("third").isSubmitted, "the name of a cancelled batch must be free")
        #expect(try test.state().names == ["holidays": BatchID("third")])
        // Forgetting an older batch does not free the name of the newest batch.
        for id in ["first", "second"] { _ = try test.store.perform(test.store.forget(BatchID(id)!, unfinished: true)) }
        #expect(try test.state().names == ["holidays": BatchID("third")])
        #expect(try test.store.perform(test.store.forget(BatchID("third"), unfinished: true)) == .forgotten)
        #expect(try test.state().names.isEmpty && submit("fourth").isSubmitted)
    }

    @Test func rejectsFeedAndSealOfAForgottenBatch() throws {
        let test = try TestStore()
        let id = BatchID("never-submitted")
        #expect(try test.store.perform(test.feeding(id, 1, photos: 3)) == .gone)
        #expect(try test.store.perform(test.store.seal(id, operations: 0, photos: 0)) == .gone)
        #expect(try test.state() == StoreState())
    }

    /// If operations are fed to an empty queue, the workers are faster than the feeder.
    @Test func timeInWhichTheQueueWasEmptyIsCounted() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1, sealed: false)
        try test.command("HINCRBY", test.store.keys.batch(id), "feeder.seen", "-5000")
        #expect(try test.store.perform(test.feeding(id, 2, photos: 3)) == .fed)
        #expect(try test.store.facts(of: id)?.starved == 0, "an operation was queued")
        _ = try test.claim()
        for (passed, most) in [(5000, 6000), (3_600_000, 66_000)] {
            try test.command("HINCRBY", test.store.keys.batch(id), "feeder.seen", "-\(passed)")
            let number = try #require(try test.store.facts(of: id)).operations + 1
            #expect(try test.store.perform(test.feeding(id, number, photos: 3)) == .fed)
            _ = try test.claim()
            #expect((5000...most).contains(try #require(try test.store.facts(of: id)).starved))
        }
        try test.heartbeat("worker")
        let facts = try #require(try test.store.facts(of: id))
        let finder = try test.store.problems(of: [facts], now: try test.store.time())
        #expect(finder.waited(of: facts).samples[.feeder] == 21)
        #expect(finder.waited(of: facts).text()?.hasPrefix("the list (100 % of the time)") == true)
    }
}
