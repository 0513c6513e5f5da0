import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct CancelTests {
    @Test func executingOperationsEndByReleaseAndFinalPhotosStay() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3, sealed: false)
        let held = try test.claim(operations: 2).map(\.held)
        try test.report(held[0], "FaD")
        #expect(
            try test.store.perform(test.store.cancel(id, reason: "enough"))
                == .cancelled(isNew: true, isFinished: false))
        #expect(try test.store.perform(test.store.cancel(id)) == .cancelled(isNew: false, isFinished: false))
        #expect(try test.claim("other").isEmpty)

        // Later results for the batch are discarded. The batch finishes when its operations are released.
        #expect(try test.report(held[0], "FaF") == .cancelled(stateCodes: Array("FaC".utf8)))
        #expect(try test.report(held[0], "FaF", worker: "other") == .lost)
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.cancelled && facts.cancelledReason == "enough" && facts.state == .executing)
        #expect(facts.counts.filtered == 1 && facts.counts.failed == 1 && facts.counts.cancelled == 7)
        #expect(facts.counts.new == 0 && facts.counts.downloaded == 0)
        for operation in held {
            let reply = try test.store.perform(test.store.release(operation, worker: "worker"))
            #expect(reply == .cancelled(stateCodes: Array((operation.number == 1 ? "FaC" : "CCC").utf8)))
        }
        let batch = try test.batch(id)
        #expect(
            batch.state == .finished && batch.stateCodes(1) == "FaD" && batch.entries.isEmpty && batch.queue.isEmpty)
        #expect(try test.store.perform(test.store.cancel(id)) == .cancelled(isNew: false, isFinished: true))
    }

    @Test func cancelledBatchEndsAfterItsLeasesExpire() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2)
        _ = try test.claim()
        _ = try test.store.perform(test.store.cancel(id))
        try test.pass(seconds: 16)
        try test.heartbeat()
        let batch = try test.batch(id)
        #expect(batch.state == .finished && batch.leaseExpiries.isEmpty)
    }

    @Test func repliesToTheFeederOfACancelledBatch() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1, sealed: false)
        #expect(try test.store.perform(test.store.cancel(id)) == .cancelled(isNew: true, isFinished: true))
        #expect(try test.store.perform(test.feeding(id, 2, photos: 3)) == .cancelled)
        #expect(try test.store.perform(test.store.seal(id, operations: 1, photos: 3)) == .cancelled)
    }

    @Test func finishedBatchIsNotCancelled() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        try test.develop()
        #expect(try test.store.perform(test.store.cancel(id)) == .finished)
        #expect(try test.store.perform(test.store.cancel(BatchID("none"))) == .gone)
        #expect(try test.store.perform(test.store.cancelPhotos(id, [0...0])) == .finished)
        #expect(try !test.batch(id).isCancelled)
    }

    @Test func cancelsAtMost1000PhotosPerCall() throws {
        let test = try TestStore()
        let id = try test.submit(size: 400, operations: 5, sealed: false)
        let held = try test.claim(operations: 1)[0].held
        try test.report(held, String(repeating: "F", count: 10) + String(repeating: "D", count: 390))
        #expect(throws: StoreError.self) {
            try test.store.perform(test.store.cancelPhotos(id, [0...999, 1500...1500]))
        }
        #expect(try !test.batch(id).stateCodes.contains(UInt8(ascii: "C")))
        #expect(try test.store.perform(test.store.cancelPhotos(id, [1999...2000])) == .notFed(photos: 2000))
        #expect(
            try test.store.perform(test.store.cancelPhotos(id, [0...998, 1999...1999]))
                == .cancelled(990, wereFinal: 10))
        #expect(try test.store.perform(test.store.cancelPhotos(id, [0...99])) == .cancelled(0, wereFinal: 100))

        // The queued operation has ended. The worker of the executing operation gets the new state codes, and ends this
        // operation with its next report.
        let batch = try test.batch(id)
        #expect(batch.executing.keys.sorted() == [1] && batch.queue == [3, 4, 5] && batch.entries[2] == nil)
        let heartbeat = try test.store.perform(test.store.heartbeat(worker: "worker", held: [held]))
        let stateCodes = Array((String(repeating: "F", count: 10) + String(repeating: "C", count: 390)).utf8)
        #expect(heartbeat.stateCodes == [.init(batch: id, number: 1, stateCodes: stateCodes)])
        #expect(
            try test.report(held, String(repeating: ".", count: 400))
                == .accepted(ended: true, stateCodes: nil, version: 1))
        _ = try test.store.perform(test.store.cancel(id))
        #expect(try test.store.perform(test.store.cancelPhotos(id, [1200...1210])) == .cancelledBefore)
    }

    @Test func cancellingTheLastPhotosFinishesTheBatch() throws {
        let test = try TestStore()
        let id = try test.submit(size: 2, operations: 2)
        let held = try test.claim(operations: 1)[0].held
        try test.report(held, "Fa")
        #expect(try test.store.perform(test.store.cancelPhotos(id, [2...3])) == .cancelled(2, wereFinal: 0))
        let batch = try test.batch(id)
        #expect(batch.state == .finished && !batch.isCancelled && batch.entries.keys.sorted() == [1])
    }
}
