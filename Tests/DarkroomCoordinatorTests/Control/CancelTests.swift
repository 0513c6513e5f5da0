import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomCoordinator

/// Cancels single batches, all batches, and photos of a batch.
@Suite(.redisServer) struct CancelTests {
    let fixture: ControlFixture
    var control: BatchController { fixture.control }

    init() throws { fixture = try ControlFixture() }

    @Test func cancelledBatchStaysCancelledAndIsNotClaimed() throws {
        let id = try fixture.submit(1, photos: 100)
        #expect(try control.cancel(id, reason: "no longer wanted") == .cancelled(isNew: true, isFinished: true))
        #expect(try control.cancel(id) == .cancelled(isNew: false, isFinished: true))
        let facts = try fixture.facts(id)
        #expect(facts.state == .finished && facts.cancelled && facts.cancelledReason == "no longer wanted")
        #expect(facts.counts.cancelled == 100 && facts.counts.new == 0)
        #expect(try fixture.claim().isEmpty)
    }

    @Test func executingBatchFinishesWithItsLastRunningOperation() throws {
        let id = try fixture.submit(1, photos: 25, seal: false)
        let held = try #require(try fixture.claim().first).held
        #expect(try control.cancel(id) == .cancelled(isNew: true, isFinished: false))
        #expect(try fixture.facts(id).state == .executing)
        for operation in 1...3 {
            let other = HeldOperation(batch: id, number: operation, fencingToken: held.fencingToken)
            _ = try fixture.store.perform(fixture.store.release(other, worker: "worker"))
        }
        #expect(try fixture.facts(id).state == .finished)
    }

    @Test func finishedBatchIsNotChanged() throws {
        let id = try fixture.submit(1)
        try fixture.develop("F")
        #expect(try control.cancel(id) == .finished)
        #expect(try !fixture.facts(id).cancelled)
        #expect(refusal { _ = try control.cancel(BatchID("gone")) }?.code == .batchGone)
    }

    @Test func cancelAllCancelsEveryUnfinishedBatch() throws {
        let finished = try fixture.submit(0)
        try fixture.develop("F")
        // More batches than one pipeline has commands.
        let ids = try (1...250).map { try fixture.submit($0) }
        _ = try control.cancel(ids[7])
        #expect(try control.cancelAll() == 249)
        #expect(try control.cancelAll() == 0)
        #expect(try fixture.store.facts(of: ids).allSatisfy { $0.cancelled && $0.state == .finished })
        #expect(try !fixture.facts(finished).cancelled)
    }

    @Test func cancelAllCancelsTheBatchesAfterADamagedOne() throws {
        let ids = try (1...120).map { try fixture.submit($0, photos: 1) }
        let key = fixture.store.keys.batch(ids[1])
        for words in [["DEL", key], ["SET", key, "x"]] { _ = try fixture.store.connection.call(RedisCommand(words)) }
        let error = refusal { _ = try control.cancelAll() }
        #expect(error?.code == .redisRefused)
        #expect(error?.description.hasPrefix("batch \(ids[1]) cannot be cancelled") == true)
        let others = ids.filter { $0 != ids[1] }
        #expect(try fixture.store.facts(of: others).allSatisfy(\.cancelled))
    }

    @Test func cancelsPhotosOfSeveralRanges() throws {
        let id = try fixture.submit(1, photos: 3000) { $0.operationSize = 1000 }
        let ranges = try PhotoRanges(parsing: "0-4,31,500-2900")
        #expect(try control.cancel(ranges, of: id) == PhotosCancelled(cancelled: 2407, wereFinal: 0))
        #expect(try control.cancel(ranges, of: id) == PhotosCancelled(cancelled: 0, wereFinal: 2407))
        let stateCodes = Array(try fixture.stateCodes(id).utf8)
        let cancelled = stateCodes.indices.filter { stateCodes[$0] == UInt8(ascii: "C") }
        #expect(cancelled == Array(0...4) + [31] + Array(500...2900))
        #expect(try fixture.facts(id).counts.cancelled == 2407)
    }

    @Test func photosThatAreNotFedFailTheWholeCall() throws {
        let open = try fixture.submit(1, photos: 1500, seal: false) { $0.operationSize = 500 }
        let beyond = try PhotoRanges(parsing: "0-9,1499-1500")
        let notFed = try #require(refusal { _ = try control.cancel(beyond, of: open) })
        #expect(notFed.code == .notFed)
        #expect(
            notFed.description.contains(
                "\(open) has 1500 photos, with the indexes 0-1499, so far: photos 0-9,1499-1500"))
        #expect(try fixture.facts(open).counts.cancelled == 0)

        let sealed = try fixture.submit(2, photos: 1)
        let outside = try #require(refusal { _ = try control.cancel(PhotoRanges([1...1]), of: sealed) })
        #expect(outside.code == .outsideList && outside.description.contains("has 1 photo, with the index 0:"))
        let endless = try PhotoRanges(parsing: "0-9999999999")
        #expect(refusal { _ = try control.cancel(endless, of: sealed) }?.code == .outsideList)
    }

    @Test func photosOfAFinishedOrCancelledBatch() throws {
        let finished = try fixture.submit(1)
        try fixture.develop("F")
        let some = PhotoRanges([0...3])
        #expect(refusal { _ = try control.cancel(some, of: finished) }?.code == .finished)
        let cancelled = try fixture.submit(2)
        _ = try control.cancel(cancelled)
        #expect(try control.cancel(some, of: cancelled) == PhotosCancelled(cancelled: 0, wereFinal: 4))
        #expect(refusal { _ = try control.cancel(some, of: BatchID("gone")) }?.code == .batchGone)
    }

    @Test func batchFinishesWhenAllItsPhotosAreCancelled() throws {
        let id = try fixture.submit(1, photos: 2500) { $0.operationSize = 1000 }
        let all = PhotoRanges([0...2499])
        #expect(try control.cancel(all, of: id) == PhotosCancelled(cancelled: 2500, wereFinal: 0))
        #expect(try fixture.facts(id).state == .finished)
    }
}
