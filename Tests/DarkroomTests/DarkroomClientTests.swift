import Darkroom
import DarkroomConcurrency
import DarkroomStore
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// An endless photo list.
private struct EndlessPhotos: Collection, Sendable {
    let startIndex = 0
    let endIndex = Int.max
    func index(after index: Int) -> Int { index + 1 }
    subscript(index: Int) -> (name: String, url: String) { ("photo", "http://photos.example/\(index)") }
}

/// Tests the client with a real Redis server.
@Suite(.redisServer, .timeLimit(.minutes(5)))
struct DarkroomClientTests {
    let redis = RedisServer.current
    let client: DarkroomClient
    private let claims = Locked(0)
    static let photos = (0..<20).map { (name: "photo \($0)", url: "http://photos.example/\($0).jpg") }

    init() throws {
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: redis.namespace())))
    }

    /// A form with 5 photos in an operation.
    static func form(_ list: PhotoList = PhotoList(photos)) -> Submission {
        var form = Submission(list)
        form.operationSize = 5
        return form
    }

    /// Claims operations as a worker does, and reports the same state code for all photos.
    func develop(_ stateCode: UInt8) throws {
        let number = claims.withLock { number in
            number += 1
            return number
        }
        let claim = client.store.claim(worker: "tester", number: number)
        guard case .claimed(let claimed) = try client.store.perform(claim) else {
            Issue.record("Redis rejected claim \(number) as old")
            return
        }
        for operation in claimed.operations {
            let stateCodes = [UInt8](repeating: stateCode, count: operation.stateCodes.count)
            let report = client.store.report(
                operation.held, worker: "tester", stateCodes: stateCodes, bytesIn: 0, bytesOut: 0,
                failures: [((operation.held.number - 1) * 5, Array(#"{"name":"x","url":"y"}"#.utf8))])
            _ = try client.store.perform(report)
        }
    }

    // MARK: - The location

    @Test func unusableFilesForTLSAreAnError() {
        let plain = expectError(DarkroomError.self) { try RedisLocation("redis://h", authorities: "/ca") }
        #expect(plain?.code == .invalidConfiguration)
        #expect(plain?.message.contains("authorities: only for rediss://, but the address is redis://h:6379") == true)
        let half = expectError(DarkroomError.self) { try RedisLocation("rediss://h", certificate: "/certificate") }
        #expect(half?.code == .invalidConfiguration)
        #expect(half?.message.contains("certificate and key: a certificate and its key go together") == true)
    }

    // MARK: - Submitting and reading

    @Test func submitsRecordsAndReadsTheBatch() async throws {
        let id = Locked<BatchID?>(nil)
        var form = Self.form()
        form.name = "holidays"
        let batch = try await client.submit(form) { begun in id.withLock { $0 = begun } }
        #expect(batch.sealed && batch.photos == 20 && batch.operations == 4)
        #expect(id.withLock { $0 } == batch.id)
        #expect(try await client.batch(named: "holidays") == batch)
        #expect(try await client.batches() == [batch])
        #expect(try await client.facts(of: BatchID("nothing")) == nil)
        #expect(try await client.photos(of: batch.id) == Array(repeating: .new, count: 20))
        #expect(try await client.operations(of: batch.id).map(\.state) == Array(repeating: .queued, count: 4))
        #expect(try await client.workers().isEmpty)
        #expect(try await client.cluster() == ClusterControls())
        try develop(FailureReason.timeout.stateCode)
        #expect(try await client.photos(of: batch.id, in: 3..<5) == [.failed(.timeout), .failed(.timeout)])
        #expect(try await client.failures(of: batch.id).map(\.index) == [0, 5, 10, 15])
        #expect(try await client.operations(of: batch.id, in: 2...3).map(\.number) == [2, 3])
        await client.close()
    }

    @Test func readsOnlyExistingIndexes() async throws {
        let photos = (0..<1001).map { (name: "photo \($0)", url: "http://photos.example/\($0).jpg") }
        var form = Submission(PhotoList(photos))
        form.operationSize = 1
        let id = try await client.submit(form).id
        #expect(try await client.photos(of: id, in: -5..<3).count == 3)
        #expect(try await client.photos(of: id, in: 1000..<Int.max).count == 1)
        #expect(try await client.photos(of: id, in: 2000..<3000).isEmpty)
        #expect(try await client.operations(of: id, in: -7...Int.max).map(\.number) == Array(1...1001))
        #expect(try await client.operations(of: id).count == 1001)
        #expect(try await client.operations(of: id, in: 1001...1001).map(\.number) == [1001])
        #expect(try await client.operations(of: id, in: 2000...3000).isEmpty)
        #expect(PhotoRanges([0...Int.max, 5...6]).count == 10_000_000_000)
        #expect(PhotoRanges([Int.min...(-1), -4...2]).ranges == [0...2])
    }

    @Test func submitsAFileWithSuitableFileNames() async throws {
        let path = redis.folder + "/\(UUID().uuidString).csv"
        try Data("name,url\nLake,http://photos.example/lake.jpg\n".utf8).write(to: URL(fileURLWithPath: path))
        var form = Self.form(PhotoList(path))
        let first = try await client.submit(form)
        #expect(first.photos == 1 && first.options.fileName == "{index}-{name}")
        form.fileName = "{index}"
        let second = try await client.submit(form)
        #expect(second.options.fileName == "{index}")
        form.fileName = "{name}"
        let template = await expectError(DarkroomError.self) { [form] in try await client.submit(form) }
        #expect(template?.code == .invalidOptions && template?.field == .fileName)
        let missing = await expectError(DarkroomError.self) { try await client.submit(Submission(path + "x")) }
        #expect(missing?.code == .listUnreadable && missing?.field == nil)
    }

    @Test func cancelledTaskStopsFeeding() async throws {
        let begun = Locked<BatchID?>(nil)
        let task = Task { [client] in
            try await client.submit(Self.form(PhotoList(EndlessPhotos()))) { id in begun.withLock { $0 = id } }
        }
        while begun.withLock({ $0 }) == nil { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let id = try #require(begun.withLock { $0 })
        #expect(try await client.facts(of: id)?.sealed == false)
        try await client.forget(id, unfinished: true)
        #expect(try await client.facts(of: id) == nil)
    }

    @Test func resumesAnInterruptedFeed() async throws {
        let id = BatchID(submittedAt: try client.store.time())
        _ = try client.store.perform(client.store.submit(id, Self.form().options))
        let batch = try await client.resume(id, from: PhotoList(Self.photos))
        #expect(batch.sealed && batch.photos == 20)
        let others = Self.photos.map { (name: $0.name, url: $0.url + "?") }
        await #expect(throws: DarkroomError.self) { try await client.resume(id, from: PhotoList(others)) }
    }

    // MARK: - Controls

    @Test func controlsABatch() async throws {
        let id = try await client.submit(Self.form()).id
        #expect(try await client.suspend(id))
        #expect(try await client.suspend(id, .downloads))
        #expect(try await client.suspend(id) == false)
        #expect(try await client.facts(of: id)?.controls.areDownloadsSuspended == true)
        #expect(try await client.resume(id))
        #expect(try await client.prioritize(id, .veryHigh))
        try await client.focus(id, 4...6, only: true)
        var controls = try #require(try await client.facts(of: id)).controls
        #expect(controls.priority == .veryHigh && controls.focus == BatchControls.Focus(4...6, only: true))
        #expect(try await client.clearFocus(id))
        #expect(try await client.cancel([0...2, 19...19], of: id) == 4)
        #expect(try await client.photos(of: id).filter { $0 == .cancelled }.count == 4)
        #expect(try await client.cancel(id, reason: "no more"))
        let facts = try #require(try await client.facts(of: id))
        controls = facts.controls
        #expect(controls.isCancelled && facts.cancelledReason == "no more" && facts.state == .finished)
        #expect(facts.startedAt == nil)
        #expect(try #require(facts.finishedAt) >= facts.submittedAt)
        #expect(try await client.photos(of: id) == Array(repeating: .cancelled, count: 20))
        await #expect(throws: DarkroomError.self) { try await client.suspend(id) }
    }

    @Test func controlsTheCluster() async throws {
        #expect(try await client.suspendAll(.filtrations))
        try await client.setLimits(downloads: 7)
        var cluster = try await client.cluster()
        #expect(cluster.areFiltrationsSuspended && !cluster.isSuspended && cluster.downloads == 7)
        #expect(try await client.resumeAll())
        try await client.clearLimits()
        cluster = try await client.cluster()
        #expect(cluster == ClusterControls())
        await #expect(throws: DarkroomError.self) { try await client.setLimits(filtrations: 0) }
        _ = try await client.submit(Self.form())
        _ = try await client.submit(Self.form())
        #expect(try await client.cancelAll() == 2)
    }

    @Test func batchesWaitForOthers() async throws {
        let first = try await client.submit(Self.form()).id
        var form = Self.form()
        form.after = [first]
        let second = try await client.submit(form)
        #expect(second.state == .waiting)
        #expect(second.waitsFor == [first])
        await #expect(throws: DarkroomError.self) { try await client.addDependency(first, on: [second.id]) }
        #expect(try await client.removeDependency(second.id, on: [first]))
        #expect(try await client.addDependency(second.id, on: [first]) == [first])
        try await client.cancel(first)
        // Heartbeats make the second batch ready. A waiting client also sends heartbeats.
        _ = try await client.wait(for: first)
        #expect(try await client.facts(of: second.id)?.state == .ready)
    }

    @Test func retriesFailedPhotos() async throws {
        let id = try await client.submit(Self.form()).id
        try develop(FailureReason.timeout.stateCode)
        #expect(try await client.retry(id, reasons: [.damaged]).photos == 0)
        let retried = try await client.retry(id)
        #expect(retried.photos == 20 && retried.notKept == 0)
        try develop(PhotoState.filtered.stateCode)
        #expect(try await client.wait(for: id).succeeded)
    }

    @Test func forgetsAnUnfinishedBatchOnlyOnRequest() async throws {
        let id = try await client.submit(Self.form()).id
        let error = await expectError(DarkroomError.self) { try await client.forget(id) }
        #expect(error?.code == .batchUnfinished)
        try await client.forget(id, unfinished: true)
        #expect(try await client.batches().isEmpty)
    }

    // MARK: - Waiting

    @Test func waitsForTheEnd() async throws {
        let ids = try await [
            client.submit(Self.form()).id, client.submit(Self.form()).id,
        ]
        async let waited = client.waitForAll()
        try develop(PhotoState.filtered.stateCode)
        #expect(try await waited.map(\.id) == ids)
        #expect(try await client.wait(for: ids + ids).count == 4, "finished batches return at once")
    }

    @Test func waitEndsAtItsTimeoutAndWithItsTask() async throws {
        let id = try await client.submit(Self.form()).id
        let late = await expectError(DarkroomError.self) {
            try await client.wait(for: id, timeout: .milliseconds(50))
        }
        #expect(late?.code == .timedOut)
        let gone = await expectError(DarkroomError.self) { try await client.wait(for: BatchID("nothing")) }
        #expect(gone?.code == .noSuchBatch)
        let task = Task { [client] in try await client.wait(for: id) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func waitContinuesAfterAnOutageOfRedis() async throws {
        let own = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { own.stop() }
        let client = DarkroomClient(RedisLocation(own.configuration, try Keys()))
        let id = try await client.submit(Self.form()).id
        let task = Task { try await client.wait(for: id) }
        own.terminate()
        await #expect(throws: DarkroomError.self) { try await client.batches() }
        try own.restart()
        // A connection attempt that began before the restart may still fail.
        while true {
            do {
                try await client.cancel(id)
                break
            } catch let error as DarkroomError where error.isTransient {
                continue
            }
        }
        #expect(try await task.value.cancelled)
    }

    // MARK: - Calls

    @Test func cancelledTaskDoesNotWaitForASilentRedis() async throws {
        let stub = try RedisServer()
        let client = DarkroomClient(RedisLocation(stub.configuration, try Keys()))
        try await client.connect()
        kill(stub.processIdentifier, SIGSTOP)
        defer {
            kill(stub.processIdentifier, SIGCONT)
            stub.stop()
        }
        let task = Task { try await client.batches() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func runsManyCallsAtOnce() async throws {
        _ = try await client.submit(Self.form())
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { [client] in try await client.batches().count } }
            return try await group.reduce(0, +)
        }
        #expect(counts == 200)
    }

    @Test func workerThatHasNotStartedStopsAtOnce() async throws {
        let worker = try PhotoWorker(client.location)
        await worker.stop()
        #expect(worker.photosDone == 0)
    }

    // MARK: - Events

    @Test func reportsChanges() async throws {
        var all = client.events().makeAsyncIterator()
        #expect(await all.next() == .subscribed)
        let id = try await client.submit(Self.form()).id
        try await client.suspendAll()
        try await client.prioritize(id, .low)
        try await client.cancel(id)
        var received: [BatchEvent] = []
        while !received.contains(where: { if case .completion = $0.kind { true } else { false } }) {
            guard case .event(let event)? = await all.next() else { continue }
            received.append(event)
        }
        #expect(received.first?.kind == .submitted && received.first?.batch == id)
        #expect(received.contains { $0.kind == .isSuspended(.everything, true) && $0.batch == nil })
        #expect(received.contains { $0.kind == .priority(.low) && $0.batch == id })
        #expect(received.contains { $0.kind == .isCancelled(true) })
        #expect(received.contains { $0.kind == .isFinished(true) })
        #expect(received.allSatisfy { $0.time > 1_700_000_000_000 })
    }

    @Test func reportsDisconnectionsAndSubscriptions() async throws {
        let own = try RedisServer()
        defer { own.stop() }
        let client = DarkroomClient(RedisLocation(own.configuration, try Keys()))
        var events = client.events().makeAsyncIterator()
        #expect(await events.next() == .subscribed)
        own.terminate()
        guard case .disconnected? = await events.next() else {
            Issue.record("the loss of Redis was not reported")
            return
        }
        try own.restart()
        #expect(await events.next() == .subscribed)
    }

    /// If two tasks used one iterator, one of the tasks would get no answer.
    @Test func oneTaskUsesAnIterator() {
        func isSendable<T>(_: T.Type) -> Bool { false }
        func isSendable<T: Sendable>(_: T.Type) -> Bool { true }
        #expect(isSendable(ClusterEvents.self) && !isSendable(ClusterEvents.Iterator.self))
    }

    @Test func observationEndsWithItsTask() async throws {
        let task = Task { [client] in
            for await _ in client.events() {}
        }
        task.cancel()
        await task.value
    }
}
