import DarkroomConcurrency
import DarkroomModel
import DarkroomRedis
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

@Suite(.redisServer(arguments: ["--appendonly", "yes"]), .timeLimit(.minutes(5))) struct CoordinatorTests {
    let redis = RedisServer.current
    let store: BatchStore

    init() throws {
        store = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
    }

    /// The names of all photos in Redis, in order.
    func names(of batch: BatchFacts) throws -> [String] {
        var names: [String] = []
        for number in 1...batch.operations {
            let entry = try #require(try store.entries(of: batch.id, operations: [number])[0])
            names += try OperationEntry.records(of: entry, firstIndex: 0).map(\.name)
        }
        return names
    }

    func code(_ body: () throws -> Void) -> CoordinatorError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CoordinatorError)?.code
        }
    }

    @Test(arguments: [(1, 50), (50, 50), (51, 50), (2345, 7), (120_000, 50)])
    func feedsEveryPhotoOnceAndSeals(photos: Int, size: Int) throws {
        var options = BatchOptions()
        options.operationSize = size
        options.window = 100_000
        let announced = Locked<BatchID?>(nil)
        let batch = try Coordinator(store: store).submit(SampleList(count: photos), options: options) { id in
            announced.withLock { $0 = id }
        }
        #expect(announced.withLock { $0 } == batch.id)
        #expect(batch.sealed)
        #expect(batch.photos == photos)
        #expect(batch.operations == (photos + size - 1) / size)
        #expect(try names(of: batch) == (0..<photos).map { "photo \($0)" })
    }

    @Test func tooManyDependenciesAreRefused() throws {
        let before = (0..<101).map { BatchID(submittedAt: 1_000 + $0) }
        let refused = code {
            _ = try Coordinator(store: store).submit(SampleList(count: 1), options: .init(), after: before)
        }
        #expect(try refused == .outOfBounds && store.batchIDs().isEmpty)
    }

    @Test func fullOperationsAreFedWhileTheListPauses() throws {
        let id = Locked<BatchID?>(nil)
        let list = SampleList(count: 1300) { [store] index in
            guard index == 1270, let batch = id.withLock({ $0 }) else { return }
            try waitUntil("the full operations are fed while the list pauses") {
                try store.facts(of: batch)?.operations == 25
            }
        }
        let batch = try Coordinator(store: store).submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        #expect(batch.sealed && batch.photos == 1300)
        #expect(try names(of: batch) == (0..<1300).map { "photo \($0)" })
    }

    @Test func operationsThatWaitedForTheWindowAreFedWhileTheListPauses() throws {
        let id = Locked<BatchID?>(nil)
        let list = SampleList(count: 5) { [store] index in
            guard index == 4, let batch = id.withLock({ $0 }) else { return }
            for number in 1...2 {
                try waitUntil("operation \(number) is fed while the list pauses") {
                    try store.facts(of: batch)?.operations == number
                }
                guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: number)) else {
                    return
                }
                for held in claimed.operations.map(\.held) {
                    let report = store.report(held, worker: "w", stateCodes: Array("FF".utf8), bytesIn: 0, bytesOut: 0)
                    _ = try store.perform(report)
                }
            }
        }
        var options = BatchOptions()
        options.operationSize = 2
        options.window = 1
        let batch = try Coordinator(store: store).submit(list, options: options) { batch in id.withLock { $0 = batch } }
        #expect(batch.sealed && batch.photos == 5)
    }

    @Test func refusesAnEmptyListAndLeavesNoBatch() throws {
        #expect(code { _ = try Coordinator(store: store).submit(SampleList(count: 0), options: .init()) } == .emptyList)
        #expect(try store.batchIDs().isEmpty)
    }

    @Test func folderOfABatchOfAnotherNamespaceIsTakenOnlyWithOverwrite() throws {
        let other = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
        var options = BatchOptions()
        let scratch = try ScratchFolder()
        options.output = scratch.path("output")
        let first = try Coordinator(store: store).submit(SampleList(count: 1), options: options)
        #expect(
            code { _ = try Coordinator(store: other).submit(SampleList(count: 1), options: options) } == .outputTaken)
        #expect(try OutputFolder(path: options.output).batches() == [first.id])
        _ = try Coordinator(store: other).submit(SampleList(count: 1), options: options, overwrite: true)
    }

    @Test func folderOfAFailedSubmissionIsTaken() throws {
        var options = BatchOptions()
        let scratch = try ScratchFolder()
        options.output = scratch.path("output")
        let origin = try store.perform(store.identify())
        #expect(try store.perform(store.identify()) == origin)
        try OutputFolder(path: options.output).reserve(
            for: BatchID("20200101-000000000-0000"), origin: origin)
        _ = try Coordinator(store: store).submit(SampleList(count: 1), options: options)
    }

    @Test func leavesNoBatchWhenTheListFailsBeforeItsFirstPhoto() throws {
        struct Unreadable: Error {}
        let list = SampleList(count: 1) { _ in throw Unreadable() }
        #expect(throws: Unreadable.self) { try Coordinator(store: store).submit(list, options: .init()) }
        #expect(try store.batchIDs().isEmpty)
    }

    @Test func resumesWhereRedisExpectsTheNextOperation() throws {
        struct Interrupted: Error {}
        let id = Locked<BatchID?>(nil)
        let interrupted = SampleList(count: 5000) { if $0 == 3000 { throw Interrupted() } }
        #expect(throws: Interrupted.self) {
            try Coordinator(store: store).submit(interrupted, options: .init()) { batch in id.withLock { $0 = batch } }
        }
        let batch = try #require(id.withLock { $0 })
        #expect(try store.facts(of: batch)?.sealed == false)

        let resumed = try Coordinator(store: store).resume(batch, SampleList(count: 5000))
        #expect(resumed.photos == 5000)
        #expect(resumed.sealed)
        #expect(try names(of: resumed) == (0..<5000).map { "photo \($0)" })
        let whole = try Coordinator(store: store).submit(SampleList(count: 5000), options: .init())
        #expect(resumed.feedDigest == whole.feedDigest)

        // A second resume only compares the complete batch with the list.
        #expect(try Coordinator(store: store).resume(batch, SampleList(count: 5000)) == resumed)
    }

    @Test func refusesToResumeWithAnotherList() throws {
        let batch = try Coordinator(store: store).submit(SampleList(count: 120), options: .init())
        let other = SampleList(count: 120, url: { "http://photos.example/\($0 == 7 ? 8 : $0).jpg" })
        var longer = other
        longer.count = 121
        for list in [other, longer, SampleList(count: 119), SampleList(count: 50)] {
            #expect(code { _ = try Coordinator(store: store).resume(batch.id, list) } == .listDiffers)
        }
        #expect(code { _ = try Coordinator(store: store).resume(BatchID("none"), SampleList(count: 1)) } == .batchGone)
        #expect(try store.facts(of: batch.id) == batch)
    }

    @Test(arguments: [(120, 121), (120, 150), (120, 400), (100, 101), (100, 250), (1, 2)])
    func feedsThePhotosThatAListHasGained(before: Int, after: Int) throws {
        let batch = try Coordinator(store: store).submit(SampleList(count: before), options: .init())
        let grown = try Coordinator(store: store).resume(batch.id, SampleList(count: after))
        #expect(grown.sealed && grown.photos == after && grown.operations == (after + 49) / 50)
        #expect(try names(of: grown) == (0..<after).map { "photo \($0)" })
        #expect(grown.feedDigest == Coordinator.digest(of: SampleList(count: after), operationSize: 50))
        #expect(try Coordinator(store: store).resume(batch.id, SampleList(count: after)) == grown)
    }

    @Test func finishedBatchBeginsAnotherRoundForPhotosThatItsListHasGained() throws {
        let batch = try Coordinator(store: store).submit(SampleList(count: 60), options: .init())
        func develop(_ stateCode: String, claim: Int) throws -> [ClaimedOperation] {
            let call = store.claim(worker: "w", number: claim)
            guard case .claimed(let claimed) = try store.perform(call) else { return [] }
            for operation in claimed.operations {
                let stateCodes = operation.stateCodes.map { $0 == UInt8(ascii: "N") ? stateCode.utf8.first! : $0 }
                _ = try store.perform(
                    store.report(operation.held, worker: "w", stateCodes: stateCodes, bytesIn: 1, bytesOut: 1))
            }
            return claimed.operations
        }
        #expect(try develop("i", claim: 1).count == 2)
        #expect(try store.facts(of: batch.id)?.state == .finished)
        let grown = try Coordinator(store: store).resume(batch.id, SampleList(count: 130))
        #expect(grown.state == .ready && grown.round == 2 && grown.sealed)
        // In the last of the old operations, only the new photos run.
        let claimed = try develop("F", claim: 2)
        #expect(claimed.map(\.held.number) == [2, 3])
        #expect(
            claimed.map { String(decoding: $0.stateCodes, as: UTF8.self) } == [
                String(repeating: "i", count: 10) + String(repeating: "N", count: 40),
                String(repeating: "N", count: 30),
            ])
        let ended = try #require(try store.facts(of: batch.id))
        #expect(ended.state == .finished && ended.counts.failed == 60 && ended.counts.filtered == 70)
        #expect(ended.operationsEnded == 3)
    }

    @Test func waitsWhileTheLastOperationExecutes() throws {
        let batch = try Coordinator(store: store).submit(SampleList(count: 60), options: .init())
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: 1)) else { return }
        let growing = DispatchSemaphore(value: 0)
        let feeding = OnThread { [store] in
            try Coordinator(store: store) { notice in
                if case .growing(from: 60) = notice { growing.signal() }
            }.resume(batch.id, SampleList(count: 70))
        }
        try #require(growing.wait(timeout: .now() + 30) == .success)
        // The coordinator tries every 100 ms to continue; this loop takes 300 ms.
        for _ in 1...15 {
            #expect(try store.facts(of: batch.id)?.photos == 60)
            _ = try store.connection.call(RedisCommand("BLPOP", "nothing", "0.02"))
        }
        _ = try store.perform(store.release(claimed.operations[1].held, worker: "w"))
        #expect(try feeding.value()?.photos == 70)
    }

    @Test func waitsWhileTheWindowIsFull() throws {
        var options = BatchOptions()
        options.operationSize = 2
        options.window = 3
        let feeding = OnThread { [store, options] in
            try Coordinator(store: store).submit(SampleList(count: 40), options: options)
        }
        // The claims of the worker never return more operations than the window allows.
        var ended = 0
        var claim = 0
        let deadline = ContinuousClock.now + .seconds(60)
        while ended < 20 {
            try #require(ContinuousClock.now < deadline)
            claim += 1
            guard case .claimed(let claimed) = try store.perform(store.claim(worker: "w", number: claim))
            else {
                Issue.record("claim \(claim) was refused")
                return
            }
            #expect(claimed.operations.count <= 3)
            for operation in claimed.operations {
                let stateCodes = [UInt8](repeating: UInt8(ascii: "F"), count: operation.stateCodes.count)
                _ = try store.perform(
                    store.report(operation.held, worker: "w", stateCodes: stateCodes, bytesIn: 0, bytesOut: 0))
                ended += 1
            }
        }
        // The feeder may have read the facts before the last operations ended.
        let fed = try #require(try feeding.value())
        let batch = try #require(try store.facts(of: fed.id))
        #expect(batch.counts.filtered == 40)
        #expect(batch.state == .finished)
    }

    @Test func stopsWhileTheWindowIsFull() throws {
        var options = BatchOptions()
        options.window = 1
        let coordinator = Coordinator(store: store)
        let submitted = DispatchSemaphore(value: 0)
        let feeding = OnThread { [options] in
            self.code {
                _ = try coordinator.submit(SampleList(count: 200), options: options) { _ in submitted.signal() }
            }
        }
        #expect(submitted.wait(timeout: .now() + 60) == .success)
        coordinator.stop()
        #expect(try feeding.value() == .stopped)
    }

    @Test func failsWhenTheBatchIsForgottenWhileItIsFed() throws {
        let id = Locked<BatchID?>(nil)
        let list = SampleList(count: 10_000) { [store] index in
            guard index == 5000, let batch = id.withLock({ $0 }) else { return }
            _ = try store.perform(store.forget(batch, unfinished: true))
        }
        #expect(
            code {
                _ = try Coordinator(store: store).submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
            } == .batchGone)
    }
}

/// Each test stops and restarts its own server.
@Suite(.timeLimit(.minutes(5))) struct CoordinatorFaultTests {
    @Test func continuesAfterRedisRestarts() throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        let notices = Locked<[String]>([])
        let coordinator = Coordinator(store: store) { notice in notices.withLock { $0.append("\(notice)") } }
        let restarts = Locked(0)
        let list = SampleList(count: 60_000) { index in
            guard index % 20_000 == 10_000 else { return }
            server.terminate()
            try server.restart()
            restarts.withLock { $0 += 1 }
        }
        let batch = try coordinator.submit(list, options: .init())
        #expect(batch.photos == 60_000)
        #expect(batch.operations == 1200)
        #expect(restarts.withLock { $0 } == 3)
        #expect(notices.withLock { $0.count } % 2 == 0)
    }

    @Test func readsTheListAgainWhenRedisHasLostConfirmedOperations() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let keys = try Keys()
        let store = BatchStore(server.configuration, keys: keys)
        let notices = Locked<[String]>([])
        let id = Locked<BatchID?>(nil)
        let reads = Locked(0)
        let list = SampleList(count: 30_000) { index in
            if index == 0 { reads.withLock { $0 += 1 } }
            guard index == 20_000, reads.withLock({ $0 }) == 1, let batch = id.withLock({ $0 }) else { return }
            // A replica was promoted too early: it has only the first three operations of the batch.
            let digest = Coordinator.digest(of: SampleList(count: 150), operationSize: 50)
            _ = store.connection.call([
                RedisCommand("HSET", keys.batch(batch), "operations", "3", "photos", "150", "feed.digest", digest),
                RedisCommand("SETRANGE", keys.states(batch), "0", ""),
            ])
        }
        let coordinator = Coordinator(store: store) { notice in notices.withLock { $0.append("\(notice)") } }
        let batch = try coordinator.submit(list, options: .init()) { batch in id.withLock { $0 = batch } }
        #expect(batch.photos == 30_000)
        #expect(reads.withLock { $0 } == 2)
        #expect(notices.withLock { $0.first }?.contains("reading the list again") == true)
    }

    /// The server restarts empty, like a promoted replica that never received the batch.
    @Test(arguments: [1, 10_000]) func submitsABatchAgainThatRedisHasLost(when index: Int) throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        let ids = Locked<[BatchID]>([])
        let reads = Locked(0)
        let list = SampleList(count: 20_000) { photo in
            if photo == 0 { reads.withLock { $0 += 1 } }
            guard photo == index, reads.withLock({ $0 }) == 1 else { return }
            server.crash()
            try server.restart()  // empty, because it writes no file
        }
        var options = BatchOptions()
        options.name = "lost"
        let batch = try Coordinator(store: store).submit(list, options: options) { id in ids.withLock { $0.append(id) }
        }
        #expect(batch.photos == 20_000 && batch.sealed && batch.options.name == "lost")
        #expect(ids.withLock { $0 } == [batch.id], "the batch was announced again under another id")
        #expect(reads.withLock { $0 } == 2)
    }

    @Test func failsWhenRedisStaysUnreachable() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        let list = SampleList(count: 10_000) { if $0 == 5000 { server.terminate() } }
        let coordinator = Coordinator(store: store, patience: .milliseconds(300))
        do {
            _ = try coordinator.submit(list, options: .init())
            Issue.record("the feed succeeded without Redis")
        } catch let error as CoordinatorError {
            #expect(error.code == .redisUnreachable)
        }
    }

    @Test func waitsWhileRedisHasNoMemoryAndReportsItOnce() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        let notices = Locked<[String]>([])
        let isFull = DispatchSemaphore(value: 0)
        // The wait exceeds `patience`, but a Redis server without free memory does not count as unreachable.
        let coordinator = Coordinator(store: store, patience: .milliseconds(1)) { notice in
            notices.withLock { $0.append("\(notice)") }
            if case .memoryFull = notice { isFull.signal() }
        }
        let feeding = OnThread {
            let list = SampleList(count: 20_000) { index in
                if index == 1000 { _ = try store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "1")) }
            }
            return try coordinator.submit(list, options: .init()).photos
        }
        try #require(isFull.wait(timeout: .now() + 30) == .success)
        _ = try store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
        #expect(try feeding.value() == 20_000)
        let reported = notices.withLock { $0.filter { $0.contains("no memory") } }
        #expect(reported.count == 1 && reported[0].contains(" used, maxmemory 0.0 MB)"), "\(reported)")
    }

    @Test func waitsWhenRedisHasNoMemoryForTheBatchItself() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let store = BatchStore(server.configuration, keys: try Keys())
        _ = try store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "1"))
        let isFull = DispatchSemaphore(value: 0)
        let coordinator = Coordinator(store: store, patience: .milliseconds(1)) { notice in
            if case .memoryFull(let memory) = notice, memory?.limitBytes == 1 { isFull.signal() }
        }
        let feeding = OnThread { try coordinator.submit(SampleList(count: 70), options: .init()).photos }
        try #require(isFull.wait(timeout: .now() + 30) == .success)
        #expect(try store.batchIDs().isEmpty)
        _ = try store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
        #expect(try feeding.value() == 70)

        _ = try store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "1"))
        let stopped = OnThread { () -> CoordinatorError.Code? in
            do {
                _ = try coordinator.submit(SampleList(count: 70), options: .init())
                return nil
            } catch {
                return (error as? CoordinatorError)?.code
            }
        }
        coordinator.stop()
        #expect(try stopped.value() == .stopped)
    }
}

extension Coordinator {
    /// The digest of a complete feed of `list`.
    static func digest(of list: SampleList, operationSize: Int) -> String {
        var packer = OperationPacker(size: operationSize)
        var digest = ""
        // A list in memory cannot fail; without its entries, the digest differs.
        try? list.read { entry in
            packer.append(entry)
            if packer.isFull { digest = packer.skip() }
            return true
        }
        return packer.photos > 0 ? packer.skip() : digest
    }
}
