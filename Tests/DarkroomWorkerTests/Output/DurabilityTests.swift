import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage
@testable import DarkroomWorker

/// Tests what a worker reports when the disk fails to store written data.
@Suite(.redisServer, .serialized) struct DurabilityTests {
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    @Test(arguments: [EIO, ENOSPC])
    func runsPhotosAgainWhoseFilesMayBeLost(error: Int32) throws {
        let id = try darkroom.submit(
            (0..<6).map { _ in photos.url("/chelsea.jpg") },
            darkroom.options { options in
                options.operationSize = 6
                options.lease = .seconds(120)  // only a released operation runs again within this test
            })
        let filteredBefore = Locked<[Int]>([])
        let facts = try darkroom.withWorker { configuration in
            configuration.hooks.syncFileSystem = { [darkroom] _ in
                // Only the first call fails: Linux reports a write error once.
                let filtered = (try? darkroom.store.facts(of: id))?.counts.filtered ?? -1  // -1 is not expected below
                return filteredBefore.withLock { before in
                    before.append(filtered)
                    return before.count == 1 ? error : 0
                }
            }
        } run: { _ in
            darkroom.waitForLog("files may be lost, their operations run again")
            return try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == 6 && facts.counts.failed == 0)
        #expect(filteredBefore.withLock { $0.first } == 0, "photos were reported before the sync call returned")
        #expect(filteredBefore.withLock { $0.count } >= 2, "photos were reported without another sync call")
        let requests = photos.requests.values.reduce(0, +)
        #expect(requests >= 7, "the photos did not run again: \(requests) requests")
        try darkroom.check(id)
        let manifest = try FileManager.default.contentsOfDirectory(
            atPath: "\(darkroom.folder)/\(ManifestPath.folder(id))")
        #expect(manifest.count == 1, "manifest lines of unreported photos remain: \(manifest)")
    }

    @Test(arguments: [true, false])
    func syncsFilesOnlyIfTheBatchIsDurable(isDurable: Bool) throws {
        let id = try darkroom.submit((0..<6).map { _ in photos.url("/moon.png") }, darkroom.options())
        let calls = Locked(0)
        try darkroom.withWorker { configuration in
            configuration.isDurable = isDurable
            configuration.hooks.syncFileSystem = { _ in
                calls.withLock { $0 += 1 }
                return 0
            }
        } run: { _ in
            try darkroom.wait(id)
        }
        #expect((calls.withLock { $0 } > 0) == isDurable)
        try darkroom.check(id)
    }

    /// The folder of a rendition may be a mount point. `/proc` and `/dev` are on other file systems than `/`.
    @Test func foldersOfRenditionsOnOtherFileSystemsAreSynced() throws {
        let place = OutputPlace(folder: "/", marker: nil)
        let folder = try OpenFolder(place, renditions: ["proc", "etc", "missing", "dev"])
        var devices: [dev_t] = []
        for name in ["/proc", "/dev"] {
            var status = stat()
            try #require(stat(name, &status) == 0)
            devices.append(status.st_dev)
        }
        let parts = folder.parts
        #expect(folder.isStillThere && Set(parts.map(\.device)).isSuperset(of: devices))
        #expect(Set(parts.map(\.device)).count == parts.count)
        for (device, part) in parts { #expect(try part.status().st_dev == device) }
    }

    @Test func runsPhotosAgainIfAFolderHasTheNameOfTheManifestFile() throws {
        let started = Locked<Worker?>(nil)
        let isPlanted = Locked(false)
        let id = try darkroom.withWorker { configuration in
            configuration.observer = { [darkroom] observation in
                guard case .step = observation, let held = started.withLock({ $0 })?.core.read({ $0.held }).first,
                    !isPlanted.exchange(true)
                else { return }
                let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
                mkdir("\(darkroom.folder)/\(ManifestPath.folder(held.batch))/\(name)", 0o755)
            }
        } run: { worker in
            started.withLock { $0 = worker }
            let id = try darkroom.submit([photos.url("/moon.png")], darkroom.options())
            darkroom.waitForLog("files may be lost, their operations run again")
            try darkroom.wait(id)
            return id
        }
        try darkroom.check(id)
    }

    /// The file calls hang as if the server of a network share were down: they return when the server runs again, or
    /// never.
    @Test func anotherWorkerRunsAnOperationWhoseFileCallsHang() throws {
        let id = try darkroom.submit(
            (0..<3).map { _ in photos.url("/moon.png") }, darkroom.options { $0.lease = .seconds(6) })
        let (hangs, server) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try darkroom.withWorker { configuration in
            configuration.hooks.fileCallPatience = .milliseconds(100)
            configuration.hooks.syncFileSystem = { _ in
                hangs.signal()
                server.wait()
                server.signal()
                return 0
            }
        } run: { _ in
            defer { server.signal() }
            #expect(hangs.wait(timeout: .now() + 30) == .success)
            try darkroom.withWorker { other in
                let facts = try darkroom.wait(id)
                #expect(facts.counts.filtered == 3 && other.photosDone == 3)
            }
        }
        try darkroom.check(id)
    }

    @Test func operationHangsWhileItsFileIsNotRenamed() throws {
        let id = try darkroom.submit([photos.url("/moon.png")], darkroom.options())
        let taken = try #require(try darkroom.store.facts(of: id)).outputTaken
        let context = try BatchContext(id, darkroom.options(), PhotoWorkerConfiguration(), taken: taken)
        _ = try context.storage.take()
        // The worker takes this lock before it renames a file. While the test holds the lock, the worker is blocked as
        // by an unresponsive file server.
        let holder = open(darkroom.folder + "/" + ManifestPath.holder, O_RDWR)
        #expect(flock(holder, LOCK_EX) == 0)
        try darkroom.withWorker {
            $0.filtrations = 2
            $0.hooks.fileCallPatience = .milliseconds(100)
        } run: { worker in
            try waitUntil("a file call has taken too long") { !worker.core.hanging.operations.isEmpty }
            #expect(worker.core.hanging.operations.map(\.batch) == [id])
            close(holder)
            try darkroom.wait(id)
            #expect(worker.core.hanging == FileCalls.Hanging())
        }
    }

    @Test func removesStaleFilesOnlyBelowTheFolderOfTheFault() throws {
        let elsewhere = try ScratchFolder()
        for path in [darkroom.folder + "/.a", elsewhere.path(".b")] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
        }
        #expect(symlink(elsewhere.path, darkroom.folder + "/00001") == 0)
        try darkroom.withWorker { worker in
            let check = FolderCheck(place: OutputPlace(folder: darkroom.folder, marker: nil), folder: "")
            for path in [".a", "00001/.b"] {
                let fault = StorageFault(.batch, detail: "it was away", check: check, remains: path)
                worker.core.blocks(fault, BatchID("one"))
            }
            darkroom.waitForLog("output can be written again, going on")
        }
        #expect(!FileManager.default.fileExists(atPath: darkroom.folder + "/.a"))
        #expect(elsewhere.exists(".b"))
    }

    /// The worker removes so many files that the removal takes longer than a file call may.
    @Test func workerHangsWhileItRemovesOtherManifests() throws {
        let id = BatchID("20261121-090501123-7f3a")
        let folder = "\(darkroom.folder)/\(ManifestPath.folder(id))/\(ManifestPath.subfolder(operation: 1))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let fencingTokens = 1...20_000
        for fencingToken in fencingTokens {
            let name = ManifestPath.fileName(operation: 1, fencingToken: fencingToken)
            close(open("\(folder)/\(name)", O_WRONLY | O_CREAT, 0o666))
        }
        let context = try BatchContext(id, darkroom.options(), PhotoWorkerConfiguration())
        try darkroom.withWorker {
            $0.hooks.fileCallPatience = .milliseconds(1)
        } run: { worker in
            let isOver = Latch()
            Thread {
                let held = HeldOperation(batch: id, number: 1, fencingToken: fencingTokens.upperBound)
                let claimed = ClaimedOperation(held: held, stateCodes: [], leaseExpiries: 0, entry: [])
                // The folder is there, so the error of `take` cannot happen.
                if let sink = try? context.storage.take().begin(claimed, [], worker: "worker") {
                    worker.core.removeOtherManifests(OperationFiles(context: context, sink: sink))
                }
                isOver.set()
            }.start()
            var hung = false
            while !isOver.isSet, !hung { hung = worker.core.isStuck }
            #expect(hung)
            try waitUntil("the thread has ended the call that hung") { isOver.isSet }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    }
}

/// Tests which operations count as hanging.
@Suite struct FileCallTests {
    @Test func operationHangsWhileItsFileCallHangs() throws {
        let calls = FileCalls(patience: .seconds(10), claimPatience: .seconds(5))
        let operation = HeldOperation(batch: BatchID("one"), number: 1, fencingToken: 1)
        let (now, later) = (ContinuousClock.now, ContinuousClock.now + .seconds(60))
        calls.run(for: operation) {
            #expect(calls.hanging(now, limits: (8, 2)) == FileCalls.Hanging())
            #expect(calls.hanging(later, limits: (8, 2)) == FileCalls.Hanging(operations: [operation]))
            #expect(calls.hanging(later, limits: (8, 1)).isAll, "the only filtration slot is taken by a hanging call")
        }
        #expect(calls.hanging(later, limits: (8, 1)) == FileCalls.Hanging())
        calls.run(for: nil) { #expect(calls.hanging(later, limits: (8, 2)).isAll) }
    }

    @Test func operationHangsWhileItsDownloadHangs() throws {
        let calls = FileCalls(patience: .seconds(10), claimPatience: .seconds(5))
        let operation = HeldOperation(batch: BatchID("one"), number: 1, fencingToken: 1)
        let call = calls.begin(.download, of: operation)
        let later = ContinuousClock.now + .seconds(60)
        #expect(calls.hanging(later, limits: (2, 1)) == FileCalls.Hanging(operations: [operation]))
        #expect(calls.hanging(later, limits: (1, 2)).isAll, "the only download slot is taken by a hanging call")
        calls.end(call)
        #expect(calls.hanging(later, limits: (1, 1)) == FileCalls.Hanging())
    }

    @Test func claimedOperationHangsUntilItStarts() throws {
        let calls = FileCalls(patience: .seconds(60), claimPatience: .seconds(5))
        let operations = (1...3).map { HeldOperation(batch: BatchID("one"), number: $0, fencingToken: 1) }
        let claims = operations.map { calls.begin(.claim, of: $0) }
        let later = ContinuousClock.now + .seconds(10)
        let hanging = calls.hanging(later, limits: (8, 2))
        #expect(hanging == FileCalls.Hanging(operations: Set(operations)), "claims must not take filtration slots")
        for claim in claims { calls.end(claim) }
        #expect(calls.hanging(later, limits: (8, 2)) == FileCalls.Hanging())
    }
}
