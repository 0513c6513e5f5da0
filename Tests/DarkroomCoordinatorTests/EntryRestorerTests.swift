import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

/// Restores missing entries of failed photos from the photo list of the batch.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct EntryRestorerTests {
    let store: BatchStore
    private let claims = Locked(0)

    init() throws {
        let redis = RedisServer.current
        store = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
    }

    /// A finished batch in operations of 5 photos; `stateCode` decides which photos failed.
    func failedBatch(of count: Int, _ stateCode: (Int) -> Character) throws -> BatchFacts {
        var options = BatchOptions()
        options.operationSize = 5
        let batch = try Coordinator(store: store).submit(SampleList(count: count), options: options)
        try develop(stateCode)
        let facts = try #require(try store.facts(of: batch.id))
        #expect(facts.state == .finished)
        return facts
    }

    /// Claims and reports all queued operations with these state codes; returns the names of the photos that were new.
    @discardableResult
    func develop(_ stateCode: (Int) -> Character) throws -> [String] {
        var names: [String] = []
        while true {
            let number = claims.withLock { number in
                number += 1
                return number
            }
            guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: number)),
                !claimed.operations.isEmpty
            else { return names }
            for operation in claimed.operations {
                let first = (operation.held.number - 1) * 5
                let records = try OperationEntry.records(of: operation.entry, firstIndex: first)
                let stateCodes = zip(records, operation.stateCodes).map { record, old in
                    old == UInt8(ascii: "N") ? stateCode(record.index).asciiValue ?? 0 : UInt8(ascii: ".")
                }
                names += zip(records, operation.stateCodes).filter { $1 == UInt8(ascii: "N") }.map(\.0.name)
                _ = try store.perform(
                    store.report(operation.held, worker: "w", stateCodes: stateCodes, bytesIn: 0, bytesOut: 0))
            }
        }
    }

    /// Removes entries, as if Redis already kept 10,000 operations with failed photos.
    func removeEntries(_ operations: ClosedRange<Int>, of batch: BatchFacts) throws {
        for number in operations {
            _ = try store.connection.call(RedisCommand("HDEL", store.keys.operations(batch.id), "\(number)"))
            _ = try store.connection.call(RedisCommand("HINCRBY", store.keys.batch(batch.id), "operations.kept", "-1"))
        }
    }

    func retry(_ batch: BatchFacts) throws -> RetryReply {
        try store.perform(store.retry(batch.id, from: 1, through: batch.operations))
    }

    @Test func failedPhotosWithoutEntriesAreRetriedWithTheList() throws {
        let batch = try failedBatch(of: 23) { $0 % 4 == 0 ? "i" : "F" }  // 0 4 8 12 16 20
        try removeEntries(2...5, of: batch)
        #expect(try retry(batch) == .retried(photos: 2, notKept: 4, next: nil))
        #expect(try develop { _ in "F" } == ["photo 0", "photo 4"])

        #expect(try Coordinator(store: store).restoreEntries(of: batch.id, from: SampleList(count: 23)) == 4)
        #expect(try Coordinator(store: store).restoreEntries(of: batch.id, from: SampleList(count: 23)) == 0)
        #expect(try retry(batch) == .retried(photos: 4, notKept: 0, next: nil))
        #expect(try develop { _ in "F" } == ["photo 8", "photo 12", "photo 16", "photo 20"])
        let end = try #require(try store.facts(of: batch.id))
        #expect(end.counts.filtered == 23 && end.counts.failed == 0 && end.state == .finished)
    }

    @Test func differentListChangesNothing() throws {
        let batch = try failedBatch(of: 23) { _ in "j" }
        try removeEntries(1...5, of: batch)
        let other = SampleList(count: 23, url: { "http://photos.example/\($0 == 21 ? 99 : $0).jpg" })
        for list in [SampleList(count: 22), SampleList(count: 24), SampleList(count: 230), other] {
            do {
                _ = try Coordinator(store: store).restoreEntries(of: batch.id, from: list)
                Issue.record("a different list of \(list.count) photos was accepted")
            } catch let error as CoordinatorError {
                #expect(error.code == .listDiffers)
                #expect(error.description.contains("is not the one it was fed from"))
            }
        }
        #expect(try retry(batch) == .retried(photos: 0, notKept: 23, next: nil))
    }

    @Test func listThatChangesWhileItIsReadIsRefused() throws {
        let batch = try failedBatch(of: 23) { _ in "j" }
        try removeEntries(1...5, of: batch)
        let reads = Locked(0)
        let list = SampleList(
            count: 23, onPhoto: { if $0 == 0 { reads.withLock { $0 += 1 } } },
            url: { index in
                let isChanged = reads.withLock { $0 } == 2 && index == 12
                return "http://photos.example/\(isChanged ? 99 : index).jpg"
            })
        do {
            _ = try Coordinator(store: store).restoreEntries(of: batch.id, from: list)
            Issue.record("a list that changed was accepted")
        } catch let error as CoordinatorError {
            #expect(error.code == .listDiffers && error.description.contains("it changed while it was read"))
        }
        // Neither the operation with photo 12 nor a later one was restored.
        #expect(try store.entries(of: batch.id, operations: [3, 4, 5]) == [nil, nil, nil])
    }

    @Test func entriesOfAPartlyFedBatchAreRestoredFromTheWholeList() throws {
        struct Interrupted: Error {}
        let id = Locked<BatchID?>(nil)
        var options = BatchOptions()
        options.operationSize = 5
        let interrupted = SampleList(count: 400) { if $0 == 300 { throw Interrupted() } }
        #expect(throws: Interrupted.self) {
            try Coordinator(store: store).submit(interrupted, options: options) { batch in id.withLock { $0 = batch } }
        }
        let submitted = try #require(id.withLock { $0 })
        let fed = try #require(try store.facts(of: submitted))
        #expect(fed.photos > 0 && !fed.sealed)
        try develop { _ in "h" }
        try removeEntries(1...1, of: fed)
        #expect(try Coordinator(store: store).restoreEntries(of: fed.id, from: SampleList(count: 400)) == 1)
    }

    @Test func manyOperationsAreReadInParts() throws {
        let batch = try failedBatch(of: 5 * 2100) { $0 % 5000 == 7 ? "i" : "F" }  // 7 5007 10007
        for photo in [7, 5007, 10007] { try removeEntries(photo / 5 + 1...photo / 5 + 1, of: batch) }
        #expect(try Coordinator(store: store).restoreEntries(of: batch.id, from: SampleList(count: 10_500)) == 3)
    }
}
