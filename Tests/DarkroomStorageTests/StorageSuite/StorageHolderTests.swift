import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// Batches that use one place one after another, in every storage.
@Suite(.timeLimit(.minutes(5))) struct StorageHolderTests {
    @Test(arguments: StorageKind.allCases) func filesOfTheOlderBatchGetNoNames(kind: StorageKind) throws {
        let older = try TestBatch(kind.harness(), 0)
        let newer = try TestBatch(older.harness, 1)
        let storage = try older.storage()
        let held = try storage.take()
        let sink = try held.begin(older.claim(token: 10), older.records(), worker: "w")
        _ = try sink.write(older.made("older"), of: older.record(0), attempt: 1) { true }
        _ = try newer.storage(taken: 200).take()

        for record in [older.record(0), older.record(1)] {
            let fault = try requireError(StorageFault.self) {
                try sink.write(older.made("late"), of: record, attempt: 2) { true }
            }
            #expect(fault.isTaken && fault.scope == .batch && !fault.isFull && fault.remains == nil)
            #expect(fault.check.fault(room: 0)?.isTaken == true)
        }
        let refusal = try requireError(Refusal.self) { try storage.take() }
        #expect(refusal.code == .folderTaken)
        // The lines of what it has stored can still be written.
        try sink.write(older.lines(name: "line"))
        #expect(try older.readNames() == ["line", "line", "line", "line"])
        try older.store(token: 8, name: "old")
        sink.removeOthers()
        #expect(try older.tokens() == [10])
        try older.expectFiles(["000000-0.jpg": "older"])
        _ = try newer.sink(token: 20, taken: 200).write(newer.made("newer"), of: newer.record(0), attempt: 1) { true }
        try older.expectFiles(["000000-0.jpg": "newer"])
    }

    /// The place is taken when the files are complete and have no names yet.
    @Test(arguments: StorageKind.allCases) func placeIsTakenDuringAWrite(kind: StorageKind) throws {
        let older = try TestBatch(kind.harness(), 0, renditions: ["large", "small"])
        let newer = try TestBatch(older.harness, 1, renditions: ["large", "small"])
        let sink = try older.sink()
        let next = try newer.storage(taken: 200)
        var isHeld = false
        let fault = try requireError(StorageFault.self) {
            try sink.write(older.made("older"), of: older.record(0), attempt: 1) {
                isHeld = (try? next.take()) != nil
                return true
            }
        }
        #expect(isHeld && fault.isTaken && fault.scope == .batch)
        try older.expectFiles([:])
    }

    @Test(arguments: StorageKind.allCases) func batchTakesThePlaceAgain(kind: StorageKind) throws {
        let older = try TestBatch(kind.harness(), 0)
        let newer = try TestBatch(older.harness, 1)
        let sinks = try [older.sink(), newer.sink(token: 20, taken: 200)]
        let fault = try requireError(StorageFault.self) {
            try sinks[0].write(older.made("older"), of: older.record(0), attempt: 1) { true }
        }
        for number in [100, 150] {
            fault.check.retake(number)
            #expect(fault.check.fault(room: 0)?.isTaken == true)
        }
        fault.check.retake(300)
        #expect(fault.check.fault(room: fault.room) == nil)
        let holder = try #require(older.place.holder)
        #expect(holder == (older.id, 300) && older.place.lastTaken == 300)
        // The sink of the older batch goes on, and so does its storage, which was opened with the older number.
        _ = try sinks[0].write(older.made("again"), of: older.record(0), attempt: 2) { true }
        _ = try older.storage(taken: 100).take()
        try older.expectFiles(["000000-0.jpg": "again"])
        let other = try requireError(StorageFault.self) {
            try sinks[1].write(newer.made("newer"), of: newer.record(0), attempt: 3) { true }
        }
        #expect(other.isTaken)
        try older.expectFiles(["000000-0.jpg": "again"])
    }

    @Test(arguments: StorageKind.allCases) func lowerNumberDoesNotTakeThePlace(kind: StorageKind) throws {
        let older = try TestBatch(kind.harness(), 0)
        let newer = try TestBatch(older.harness, 1)
        #expect(older.place.lastTaken == 0 && older.place.holder == nil)
        _ = try newer.storage(taken: 200).take()
        let refusal = try requireError(Refusal.self) { try older.storage(taken: 100).take() }
        #expect(refusal.code == .folderTaken)
        let holder = try #require(older.place.holder)
        #expect(holder == (newer.id, 200) && older.place.lastTaken == 200)
        // Several workers of the holder take the place.
        for taken in [200, 200, 150] { _ = try newer.storage(taken: taken).take() }
        #expect(older.place.lastTaken == 200)
    }

    /// Workers of several batches take the place at the same time.
    @Test(arguments: StorageKind.allCases) func largestNumberOfManyHoldsThePlace(kind: StorageKind) throws {
        let harness = try kind.harness()
        let batches = try [0, 1, 2].map { try TestBatch(harness, $0) }
        let storages = try (0..<9).map { try batches[$0 % 3].storage(taken: 100 + $0) }
        _ = onThreads(storages.count) { number in
            _ = try? storages[number].take()
            return nil
        }
        let holder = try #require(batches[0].place.holder)
        #expect(holder == (batches[2].id, 108))
        for (number, batch) in batches.enumerated() {
            let isTaken = (try? batch.storage(taken: 90).take()) == nil
            #expect(isTaken == (number != 2))
        }
    }

    @Test(arguments: StorageKind.allCases) func holderIsKnownToReaders(kind: StorageKind) throws {
        let older = try TestBatch(kind.harness(), 0)
        let newer = try TestBatch(older.harness, 1)
        func facts(_ batch: TestBatch, _ taken: Int) throws -> BatchFacts {
            let fields = ["state": "ready", "output.taken": "\(taken)"]
            return try #require(BatchFacts(id: batch.id, fields: fields, reasons: [:]))
        }
        #expect(try older.place.taker(since: facts(older, 100)) == nil)
        _ = try newer.storage(taken: 200).take()
        #expect(try older.place.taker(since: facts(older, 100)) == newer.id)
        #expect(try older.place.taker(since: facts(older, 300)) == nil)
        #expect(try older.place.taker(since: facts(newer, 200)) == nil)
        // The holder's manifest is removed. Its number stays, so that the next batch receives a higher one.
        newer.place.withdraw(newer.id)
        #expect(older.place.holder == nil && older.place.lastTaken == 200)
        #expect(try older.place.taker(since: facts(older, 100)) == nil)
    }

    @Test(arguments: StorageKind.allCases) func placesDoNotAffectEachOther(kind: StorageKind) throws {
        let first = try TestBatch(kind.harness(), 0, in: "a")
        let second = try TestBatch(first.harness, 1, in: "b")
        let sinks = try [first.sink(), second.sink(taken: 200)]
        for (batch, sink) in [(first, sinks[0]), (second, sinks[1])] {
            _ = try sink.write(batch.made("\(batch.id)"), of: batch.record(0), attempt: 1) { true }
            try batch.expectFiles(["000000-0.jpg": "\(batch.id)"])
            #expect(batch.place.holder?.batch == batch.id)
            #expect(try batch.place.batches() == [batch.id])
        }
    }
}
