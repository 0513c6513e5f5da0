import DarkroomConcurrency
import DarkroomModel
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

/// Feeding a batch that is cancelled, or that waits for other batches.
@Suite(.redisServer(arguments: ["--appendonly", "yes"]), .timeLimit(.minutes(5))) struct CancelledFeedTests {
    let store: BatchStore

    init() throws {
        let redis = RedisServer.current
        store = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
    }

    /// The facts of the batch if the feed ended with `BatchCancelled`; nil if all photos were fed.
    func cancelled(_ feed: () throws -> BatchFacts) throws -> BatchFacts? {
        do {
            _ = try feed()
            return nil
        } catch let end as BatchCancelled {
            return end.batch
        }
    }

    func error(_ body: () throws -> Void) -> CoordinatorError? {
        do {
            try body()
            return nil
        } catch {
            return error as? CoordinatorError
        }
    }

    @Test func stopsWhenItsBatchIsCancelled() throws {
        let id = Locked<BatchID?>(nil)
        let list = SampleList(count: 10_000) { [store] index in
            guard index == 5000, let batch = id.withLock({ $0 }) else { return }
            _ = try store.perform(store.cancel(batch, reason: "no longer wanted"))
        }
        let end = try cancelled {
            try Coordinator(store: store).submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        }
        let batch = try #require(end)
        #expect(batch.id == id.withLock { $0 })
        #expect(batch.cancelled && !batch.sealed && batch.state == .finished)
        #expect(batch.photos <= 5000 && batch.photos % 50 == 0)
        #expect(batch.counts.cancelled == batch.photos)
        let text = "\(BatchCancelled(batch: batch))"
        #expect(text.contains("was cancelled while it was fed (no longer wanted): \(batch.photos) photos of the list"))
    }

    @Test func noticesACancelWhileTheWindowIsFull() throws {
        var options = BatchOptions()
        options.window = 2
        let submitted = DispatchSemaphore(value: 0)
        let id = Locked<BatchID?>(nil)
        let feeding = OnThread { [options] in
            try self.cancelled {
                try Coordinator(store: store).submit(SampleList(count: 1000), options: options) { batch in
                    id.withLock { $0 = batch }
                    submitted.signal()
                }
            }
        }
        #expect(submitted.wait(timeout: .now() + 60) == .success)
        let batch = try #require(id.withLock { $0 })
        try waitUntil("two operations are fed") { try store.facts(of: batch)?.operations == 2 }
        _ = try store.perform(store.cancel(batch))
        let facts = try #require(try feeding.value() ?? nil)
        #expect(facts.photos == 100 && facts.cancelled)
    }

    @Test func batchCancelledBeforeItIsSealedIsNotSealed() throws {
        let id = Locked<BatchID?>(nil)
        // The last photo completes no operation, so it is fed only at the end.
        let list = SampleList(count: 51) { [store] index in
            guard index == 50, let batch = id.withLock({ $0 }) else { return }
            _ = try store.perform(store.cancel(batch))
        }
        let end = try cancelled {
            try Coordinator(store: store).submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        }
        #expect(try #require(end).sealed == false)

        // All photos are fed, but the cancel comes before the seal.
        let other = try Coordinator(store: store).submit(SampleList(count: 50), options: .init())
        _ = try store.connection.call(.init("HSET", store.keys.batch(other.id), "sealed", "0"))
        let sealing = SampleList(count: 50) { [store] index in
            if index == 49 { _ = try store.perform(store.cancel(other.id)) }
        }
        #expect(try cancelled { try Coordinator(store: store).resume(other.id, sealing) }?.photos == 50)
    }

    @Test func cancelledBatchIsNotResumed() throws {
        let batch = try Coordinator(store: store).submit(SampleList(count: 120), options: .init())
        _ = try store.perform(store.cancel(batch.id))
        let reads = Locked(0)
        let list = SampleList(count: 120) { _ in reads.withLock { $0 += 1 } }
        let refused = error { _ = try Coordinator(store: store).resume(batch.id, list) }
        #expect(refused?.code == .cancelled)
        #expect(refused?.description.contains("submit the list again as a new batch") == true)
        #expect(reads.withLock { $0 } == 0, "the coordinator read the list of a cancelled batch")
    }

    @Test func feedsAWaitingBatch() throws {
        let first = try Coordinator(store: store).submit(SampleList(count: 1), options: .init())
        let second = try Coordinator(store: store).submit(SampleList(count: 120), options: .init(), after: [first.id])
        #expect(second.state == .waiting && second.sealed && second.photos == 120)
        #expect(try store.dependencies(of: [second.id]) == [[first.id]])
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: 1)) else {
            Issue.record("the claim was old")
            return
        }
        #expect(Set(claimed.operations.map(\.held.batch)) == [first.id])
    }

    @Test func missingDependencyIsRefused() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path("folder")
        var options = BatchOptions()
        options.output = folder + "/out"
        let refused = error {
            _ = try Coordinator(store: store).submit(
                SampleList(count: 1), options: options, after: [BatchID("20200101-000000000-0000")])
        }
        #expect(refused?.code == .batchGone)
        #expect(refused?.description.contains("20200101-000000000-0000, which must finish first") == true)
        #expect(try store.batchIDs().isEmpty)
        #expect(OutputFolder(path: options.output).isUntouched(by: BatchID("any")))
        #expect(try OutputFolder(path: options.output).batches().isEmpty)
    }

    @Test func batchWhoseDependencyDidNotSucceedIsCancelledWithAReason() throws {
        let first = try Coordinator(store: store).submit(SampleList(count: 1), options: .init())
        _ = try store.perform(store.cancel(first.id))
        var options = BatchOptions()
        options.afterSuccess = true
        let end = try cancelled {
            try Coordinator(store: store).submit(SampleList(count: 500), options: options, after: [first.id])
        }
        let facts = try #require(end)
        #expect(facts.photos == 0 && facts.cancelledReason == "\(first.id) did not succeed")
    }

    @Test func createsTheFolderOfOriginals() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path("folder")
        var options = BatchOptions()
        options.originals = folder + "/deep/originals"
        #expect(try Coordinator(store: store).submit(SampleList(count: 1), options: options).options == options)
        #expect(try FileManager.default.contentsOfDirectory(atPath: options.originals) == [])

        options.originals = "/dev/null/originals"
        let refused = error { _ = try Coordinator(store: store).submit(SampleList(count: 1), options: options) }
        #expect(refused?.code == .outputDenied)
        #expect(refused?.description.hasPrefix("originals folder /dev/null/originals: ") == true, "\(refused as Any)")
        #expect(
            try store.batchIDs().count == 1, "a batch was submitted although its originals folder cannot be created")

        options.remoteOutput = true
        _ = try Coordinator(store: store).submit(SampleList(count: 1), options: options)
    }
}
