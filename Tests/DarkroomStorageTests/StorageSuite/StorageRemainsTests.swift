import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// What crashed workers leave, in every storage.
@Suite struct StorageRemainsTests {
    /// Leaves the files of crashed attempts with several tokens, each of another photo of the operation.
    private func crash(_ batch: TestBatch, _ number: Int = 1, tokens: [Int]) throws {
        for (position, token) in tokens.enumerated() {
            let record = batch.records(of: number)[position]
            try batch.crash(try batch.sink(number, token: token, worker: "crashed"), record, attempt: token)
        }
    }

    /// A claim after a crash removes the files of lower tokens only.
    @Test(arguments: StorageKind.allCases) func claimAfterACrashRemovesRemains(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        try crash(batch, 2, tokens: [7])
        let others = try batch.harness.remains(in: batch.place)
        try crash(batch, tokens: [9, 10, 11])
        let all = try batch.harness.remains(in: batch.place)
        try crash(batch, tokens: [7, 8])
        try batch.harness.leaveLines(of: batch.held(token: 8), worker: "crashed", in: batch.place)
        #expect(try batch.harness.remains(in: batch.place).count >= all.count + 4)
        // The files with names, and the lines, stay.
        _ = try batch.sink(token: 6).write(batch.made("named"), of: batch.record(0), attempt: 1) { true }
        try batch.store(token: 6, name: "line")
        _ = try batch.sink(token: 9, expiries: 1)
        #expect(try batch.harness.remains(in: batch.place) == all)
        _ = try batch.sink(token: 12, expiries: 1)
        #expect(try batch.harness.remains(in: batch.place) == others)
        #expect(
            try batch.text("large/000000-0.jpg") == "namedlarge" && batch.text("small/000000-0.jpg") == "namedsmall")
        #expect(try batch.tokens() == [6])
    }

    /// The worker knows only the indexes of the photos.
    @Test(arguments: StorageKind.allCases) func remainsOfAnOperationAreRemoved(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        try crash(batch, tokens: [11, 12])
        try crash(batch, 2, tokens: [7, 8])
        let later = try batch.harness.remains(in: batch.place)
        try crash(batch, tokens: [9, 10])
        try batch.harness.leaveLines(of: batch.held(token: 10), worker: "crashed", in: batch.place)
        _ = try batch.sink(token: 6).write(batch.made("named"), of: batch.record(0), attempt: 1) { true }
        try batch.store(token: 6, name: "line")
        let records = batch.records().map { PhotoRecord(index: $0.index, name: "", url: "") }
        try batch.storage(taken: 0).removeRemains(of: batch.held(token: 10), records)
        #expect(try batch.harness.remains(in: batch.place) == later)
        #expect(try batch.text("large/000000-0.jpg") == "namedlarge" && batch.tokens() == [6])
        try batch.storage(taken: 0).removeRemains(of: batch.held(token: .max), records)
        #expect(try batch.text("large/000000-0.jpg") == "namedlarge" && batch.tokens() == [6])
    }

    /// Another batch has taken the place, and a worker of it writes a photo with the same index and a lower token.
    @Test(arguments: StorageKind.allCases) func filesOfAnotherBatchAreNotRemains(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1)
        try crash(batch, tokens: [10])
        let storage = try batch.storage()
        let sink = try other.sink(token: 9, taken: 200)
        let found = try sink.write(other.made("other"), of: other.record(0), attempt: 1) {
            storage.removeRemains(of: batch.held(token: 10), batch.records())
            return true
        }
        #expect(found?.count == 1)
        try batch.expectFiles(["000000-0.jpg": "other"])
    }

    @Test(arguments: StorageKind.allCases) func errorOfARemovalIsIgnored(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let storage = try batch.storage()
        let held = try storage.take()
        let sink = try held.begin(batch.claim(token: 9), batch.records(), worker: "w")
        try sink.write(batch.lines(name: "a"))
        try batch.harness.takeAway()
        storage.removeRemains(of: batch.held(token: 10), batch.records())
        sink.removeOthers()
        sink.discard()
        try batch.harness.mend()
        #expect(try batch.tokens() == [9])
    }
}
