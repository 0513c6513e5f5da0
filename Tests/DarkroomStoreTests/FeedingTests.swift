import DarkroomModel
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct FeedingTests {
    @Test func feedingPipelinedTwiceDoublesNothing() throws {
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

    @Test func feedingOutOfOrderSkipsNothing() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        let feeds = [1, 3, 2, 3].map { test.feeding(id, $0, photos: 3) }
        #expect(try test.store.perform(feeds) == [.fed, .expects(2), .fed, .fed])
        #expect(try test.batch(id).queue == [1, 2, 3])
    }

    @Test func nothingFollowsAShortOperation() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        let feeds = [(1, 3), (2, 2), (3, 3)].map { test.feeding(id, $0.0, photos: $0.1) }
        #expect(try test.store.perform(feeds) == [.fed, .fed, .short])
        #expect(try test.batch(id).stateCodes.count == 5)
    }

    @Test func anOperationLargerThanTheBatchAllowsIsAnError() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false)
        for photos in [0, 4] {
            let error = expectError(StoreError.self) { try test.store.perform(test.feeding(id, 1, photos: photos)) }
            #expect(error?.description.contains("an operation of \(photos) photos, 1 to 3 are allowed") == true)
        }
        #expect(try test.batch(id).operations == 0)
    }

    @Test func aFullWindowRefusesUntilAnOperationEnds() throws {
        let test = try TestStore()
        let id = try test.submit(sealed: false) { $0.window = 2 }
        let feeds = (1...3).map { test.feeding(id, $0, photos: 3) }
        #expect(try test.store.perform(feeds) == [.fed, .fed, .full])
        try test.report(try test.claim(operations: 1)[0].held, "FFF")
        #expect(try test.store.perform(feeds[2]) == .fed)
    }

    @Test func sealingNamesTheTotals() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2, sealed: false)
        #expect(
            try test.store.perform(test.store.seal(id, operations: 2, photos: 5)) == .differs(operations: 2, photos: 6))
        #expect(try test.store.perform(test.store.seal(id, operations: 2, photos: 6)) == .sealed)
        #expect(try test.store.perform(test.store.seal(id, operations: 2, photos: 6)) == .sealed)
        #expect(try test.store.perform(test.feeding(id, 3, photos: 3)) == .sealed)
    }

    @Test func sealingABatchWhoseOperationsHaveEndedFinishesIt() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1, sealed: false)
        try test.report(try test.claim()[0].held, "FFF")
        #expect(try test.batch(id).state == .executing)
        _ = try test.store.perform(test.store.seal(id, operations: 1, photos: 3))
        #expect(try test.batch(id).state == .finished)
        let empty = try test.submit("empty")
        #expect(try test.batch(empty).state == .finished)
    }

    @Test func oneFolderTakesOneBatchUnlessOverwritten() throws {
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

    @Test func oneNameIsThatOfOneBatchUntilItIsOver() throws {
        let test = try TestStore()
        var options = BatchOptions()
        options.name = "holidays"
        func submit(_ id: String) throws -> SubmitReply {
            try test.store.perform(test.store.submit(BatchID(id)!, options))
        }
        // Two that are sent at once: the script decides.
        let calls = ["first", "second"].map { test.store.submit(BatchID($0)!, options) }
        #expect(try test.store.perform(calls)[1] == .nameTaken(by: BatchID("first")))
        #expect(try test.state().batches[BatchID("second")] == nil && submit("first") == .exists)
        _ = try test.store.perform(test.store.seal(BatchID("first"), operations: 0, photos: 0))
        #expect(try submit("second").isSubmitted, "the first has finished")
        #expect(try submit("third") == .nameTaken(by: BatchID("second")))
        // It has not finished, since a worker holds an operation of it.
        _ = try test.store.perform(test.feeding(BatchID("second"), 1, photos: 1))
        _ = try test.claim()
        _ = try test.store.perform(test.store.cancel(BatchID("second")))
        #expect(try test.batch(BatchID("second")).state == .executing)
        #expect(try submit("third").isSubmitted, "the second was cancelled")
        #expect(try test.state().names == ["holidays": BatchID("third")])
        // What an older batch of the name leaves behind is not the newest one's.
        for id in ["first", "second"] { _ = try test.store.perform(test.store.forget(BatchID(id)!, unfinished: true)) }
        #expect(try test.state().names == ["holidays": BatchID("third")])
        #expect(try test.store.perform(test.store.forget(BatchID("third"), unfinished: true)) == .forgotten)
        #expect(try test.state().names.isEmpty && submit("fourth").isSubmitted)
    }

    @Test func whatIsGoneIsNeitherFedNorSealed() throws {
        let test = try TestStore()
        let id = BatchID("never-submitted")
        #expect(try test.store.perform(test.feeding(id, 1, photos: 3)) == .gone)
        #expect(try test.store.perform(test.store.seal(id, operations: 0, photos: 0)) == .gone)
        #expect(try test.state() == StoreState())
    }
}
