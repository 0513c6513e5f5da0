import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// Storage that fails, of every kind.
@Suite(.timeLimit(.minutes(5))) struct StorageFaultTests {
    private func fault(
        _ batch: TestBatch, _ sink: any OperationSink, _ text: String = "photo", index: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StorageFault {
        try requireError(StorageFault.self, sourceLocation: sourceLocation) {
            try sink.write(batch.made(text), of: batch.record(index), attempt: 7) { true }
        }
    }

    @Test(arguments: StorageKind.limited) func fullDomainIsTheSameForAllItsBatches(kind: StorageKind) throws {
        let first = try TestBatch(kind.harness(isLimited: true), 0, in: "a")
        let second = try TestBatch(first.harness, 1, in: "b")
        let held = try [first.storage().take(), second.storage().take()]
        #expect(held[0].domains == held[1].domains && held[0].domains.count == 1)
        let sinks = [
            try held[0].begin(first.claim(token: 10), first.records(), worker: "w"),
            try held[1].begin(second.claim(token: 10), second.records(), worker: "w"),
        ]
        try first.harness.fill(leaving: 0)
        let faults = try [fault(first, sinks[0]), fault(second, sinks[1])]
        for fault in faults {
            #expect(fault.isFull && !fault.isTaken && fault.reason == .diskFull && fault.remains == nil)
            #expect(fault.domain != nil && fault.domain == held[0].domains.first && fault.room > 0)
            #expect(fault.check.fault(room: fault.room)?.isFull == true)
        }
        for batch in [first, second] { try batch.expectFiles([:]) }
        // Lines need space, too.
        let lines = try requireError(StorageFault.self) { try sinks[0].write(first.lines(name: "a")) }
        #expect(lines.isFull && lines.domain == faults[0].domain)
        #expect(try first.readNames() == [] && first.harness.remains(in: first.place) == [])

        try first.harness.fill(leaving: faults[0].room / 2)
        #expect(faults[0].check.fault(room: faults[0].room)?.isFull == true)
        try first.harness.mend()
        for fault in faults { #expect(fault.check.fault(room: fault.room) == nil) }
        #expect(try first.harness.remains(in: first.place) == [])
        _ = try sinks[0].write(first.made("photo"), of: first.record(0), attempt: 8) { true }
        try sinks[0].write(first.lines(name: "a"))
        try first.expectFiles(["000000-0.jpg": "photo"])
        #expect(try first.readNames().count == 4)
    }

    /// There is space for the first files of a photo only.
    @Test(arguments: StorageKind.limited) func fullDomainStoresNoPartOfAPhoto(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(isLimited: true), renditions: ["large", "middle", "small"])
        let sink = try batch.sink()
        _ = try sink.write(batch.made("first"), of: batch.record(0), attempt: 1) { true }
        try batch.harness.fill(leaving: 300_000)
        let fault = try fault(batch, sink, String(repeating: "x", count: 130_000))
        #expect(fault.isFull)
        try batch.harness.mend()
        try batch.expectFiles(
            Dictionary(uniqueKeysWithValues: ["large", "middle", "small"].map { ("\($0)/000000-0.jpg", "first\($0)") }))
    }

    @Test(arguments: StorageKind.allCases) func placeIsAway(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let storage = try batch.storage()
        let held = try storage.take()
        let sink = try held.begin(batch.claim(token: 10), batch.records(), worker: "w")
        _ = try sink.write(batch.made("first"), of: batch.record(0), attempt: 1) { true }
        try batch.harness.takeAway()
        for fault in try [
            fault(batch, sink), requireError(StorageFault.self) { try sink.write(batch.lines(name: "a")) },
        ] {
            #expect(fault.scope != .file && !fault.isFull && !fault.isTaken && fault.reason == .outputDenied)
            let present = try #require(fault.check.fault(room: fault.room))
            #expect(present.scope != .file && !present.isFull && !present.isTaken)
        }
        let loss = try #require(sink.loss())
        #expect(loss.scope != .file && loss.check.fault(room: loss.room) != nil)
        let refusal = try requireError(Refusal.self) { try storage.take() }
        #expect(refusal.code != .folderTaken)
        #expect(!batch.place.isUntouched(by: batch.id) || batch.place.holder == nil)
        let found = try? batch.place.results.open("000000-0.jpg")
        #expect(found == nil)

        try batch.harness.mend()
        #expect(loss.check.fault(room: loss.room) == nil && sink.loss() == nil)
        _ = try storage.take()
        _ = try sink.write(batch.made("second"), of: batch.record(0), attempt: 3) { true }
        try batch.expectFiles(["000000-0.jpg": "second"])
    }

    /// The place becomes read-only when the files are complete and have no names yet.
    @Test(arguments: StorageKind.limited) func remainsAreRemovedLater(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(isLimited: true))
        let sink = try batch.sink()
        let fault = try requireError(StorageFault.self) {
            try sink.write(batch.made("photo"), of: batch.record(0), attempt: 1) {
                (try? batch.harness.makeReadOnly()) != nil
            }
        }
        #expect(fault.scope != .file && fault.check.fault(room: fault.room) != nil)
        let remains = try #require(fault.remains)
        #expect(try batch.harness.remains(in: batch.place).count == 1)
        #expect(try batch.harness.files(in: batch.place).isEmpty)
        fault.check.remove(remains)  // an error is ignored
        try batch.harness.mend()
        #expect(fault.check.fault(room: fault.room) == nil)
        fault.check.remove(remains)
        try batch.expectFiles([:])
    }

    @Test(arguments: StorageKind.allCases) func otherContentIsALoss(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sink = try batch.sink()
        _ = try sink.write(batch.made("lost"), of: batch.record(0), attempt: 1) { true }
        #expect(sink.loss() == nil)
        try batch.harness.replace(batch.place)
        let loss = try #require(sink.loss())
        #expect(loss.scope == .file && loss.check.fault(room: loss.room) == nil)
        // A new claim of the operation writes to the new content.
        let next = try batch.sink(token: 11)
        _ = try next.write(batch.made("next"), of: batch.record(1), attempt: 1) { true }
        #expect(next.loss() == nil && sink.loss() != nil)
        try batch.expectFiles(["000001-1.jpg": "next"])
    }

    // MARK: - Durability

    @Test(arguments: StorageKind.allCases) func barriersAreOfTheDomainsOfThePlace(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        let before = ContinuousClock.now
        let held = try batch.storage().take()
        let sink = try held.begin(batch.claim(token: 10), batch.records(), worker: "w")
        let begun = ContinuousClock.now
        _ = try sink.write(batch.made(), of: batch.record(0), attempt: 1) { true }
        #expect(Set(sink.barriers.map(\.domain)) == held.domains && sink.barriers.count == held.domains.count)
        // The domain was opened before a file was written, or an error could be missed.
        #expect(sink.barriers.allSatisfy { before <= $0.opened && $0.opened <= begun })
        for barrier in sink.barriers { try barrier.makeDurable() }
    }

    /// The worker calls only the oldest barrier of all its operations. If files may be lost, that barrier must report
    /// it, even if its own operation has written nothing.
    @Test(arguments: StorageKind.allCases) func oldestBarrierReportsALossOnce(kind: StorageKind) throws {
        let first = try TestBatch(kind.harness(), 0, in: "a")
        let second = try TestBatch(first.harness, 1, in: "b")
        let sinks = try [first.sink(), second.sink(), second.sink(token: 11, worker: "w2")]
        for (number, sink) in sinks.enumerated().dropFirst() {
            _ = try sink.write(second.made(), of: second.record(number), attempt: number) { true }
        }
        let barriers = try sinks.map { try #require($0.barriers.first) }
        #expect(Set(barriers.map(\.domain)).count == 1)
        let oldest = try #require(barriers.min { $0.opened < $1.opened })
        try oldest.makeDurable()
        first.harness.loseUnsynced()
        let fault = try requireError(StorageFault.self) { try oldest.makeDurable() }
        #expect(fault.domain == oldest.domain && !fault.isTaken && fault.check.fault(room: fault.room) == nil)
        try oldest.makeDurable()
        // The loss is also reported to the barriers of other storages, for example of other workers.
        for barrier in barriers where barrier.opened != oldest.opened {
            _ = try requireError(StorageFault.self) { try barrier.makeDurable() }
            try barrier.makeDurable()
        }
    }

    /// The barrier of an operation stays usable when the operation's storage is no longer used.
    @Test(arguments: StorageKind.allCases) func sinkKeepsThePlaceOpen(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        var held: (any HeldStorage)? = try batch.storage().take()
        let begun = try held?.begin(batch.claim(token: 10), batch.records(), worker: "w")
        let sink = try #require(begun)
        let opened = sink.barriers.map(\.opened)
        held = nil
        _ = try batch.storage().take()
        #expect(sink.barriers.map(\.opened) == opened && sink.loss() == nil)
        batch.harness.loseUnsynced()
        for barrier in sink.barriers { _ = try requireError(StorageFault.self) { try barrier.makeDurable() } }
        #expect(held == nil)
    }
}
