import DarkroomCoordinator
import DarkroomModel
import DarkroomPhotoServer
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomStore
@testable import DarkroomStorage
@testable import DarkroomWorker

/// Tests how a worker merges the manifest files of earlier claims, including claims that Redis has lost.
@Suite(.redisServer, .serialized) struct ManifestTakeOverTests {
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    @Test func takesEachLineFromItsHighestFencingTokenAndLeavesOneFile() throws {
        let id = try darkroom.submit((0..<4).map { _ in photos.url("/moon.png") }, darkroom.options())
        // An earlier claim finished photos 0 and 1 and released the operation.
        let held = try releasedClaim(reporting: "FF..")
        try write(id, fencingToken: held.fencingToken - 1, [(0, .filtered), (1, .filtered)], name: "first")
        try write(id, fencingToken: held.fencingToken, [(0, .filtered)], name: "second")
        // Redis lost the claim that wrote this file. In that claim photo 1 failed and photo 2 was filtered.
        let forgotten = held.fencingToken + 3_600_000
        try write(id, fencingToken: forgotten, [(1, .failed(.timeout)), (2, .filtered)], name: "forgotten")
        #expect(try names(id) == ["second", "forgotten", "forgotten"])

        let facts = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(facts.counts.filtered == 4)
        #expect(try names(id) == ["second", "first", "moon.png", "moon.png"])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder(id))
        let fencingTokens = files.compactMap { ManifestPath.parse(fileName: $0)?.fencingToken }
        #expect(
            fencingTokens.count == 1 && fencingTokens[0] > held.fencingToken && fencingTokens[0] < forgotten, "\(files)"
        )
    }

    /// Lines from the state codes would lack the details of failures.
    @Test func waitsForAManifestFileThatCannotBeRead() throws {
        let id = try darkroom.submit((0..<2).map { _ in photos.url("/moon.png") }, darkroom.options())
        let held = try releasedClaim(reporting: "F.")
        try write(id, fencingToken: held.fencingToken, [(0, .filtered)], name: "sound")
        let name = ManifestPath.fileName(operation: 1, fencingToken: held.fencingToken)
        let (path, content) = ("\(folder(id))/\(name)", "\(folder(id))/content")
        try FileManager.default.moveItem(atPath: path, toPath: content)
        #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)  // cannot be opened, even by root

        let facts = try darkroom.withWorker { _ in
            try waitUntil("the worker refuses the batch") {
                try darkroom.store.workers().contains { $0.refusal(of: id) != nil }
            }
            let refusals = try darkroom.store.workers().compactMap { $0.refusal(of: id) }
            let reason = try #require(refusals.first?.reason)
            #expect(reason.contains(name), "\(reason)")
            #expect(rename(content, path) == 0)
            return try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == 2)
        #expect(try names(id) == ["sound", "moon.png"])
    }

    @Test func skipsLinesOfPhotosOutsideTheOperation() throws {
        let id = BatchID("20261121-090501123-7f3a")
        try FileManager.default.createDirectory(atPath: folder(id), withIntermediateDirectories: true)
        let records = (4..<6).map { PhotoRecord(index: $0, name: "photo", url: "http://photos.example/\($0)") }
        for (fencingToken, index) in [Int.min, Int.min + 4, Int.max, -1, 0, 3, 6, 1 << 53].enumerated() {
            try write(id, fencingToken: fencingToken + 1, [(index, .cancelled)], name: "planted", operation: 3)
        }
        try write(id, fencingToken: 20, [(5, .cancelled)], name: "own", operation: 3)
        let context = try BatchContext(id, darkroom.options(), PhotoWorkerConfiguration())
        let held = HeldOperation(batch: id, number: 3, fencingToken: 30)
        let claimed = ClaimedOperation(held: held, stateCodes: Array("CC".utf8), leaseExpiries: 1, entry: [])
        let sink = try context.storage.take().begin(claimed, records, worker: "worker")
        let lines = sink.past.map {
            String(decoding: $0 ?? [], as: UTF8.self)
        }
        #expect(lines.count == 2 && lines[0].contains("\"photo\"") && lines[1].contains("\"own\""), "\(lines)")
    }

    @Test func skipsLinesOfAnotherBatch() throws {
        let id = try darkroom.submit((0..<2).map { _ in photos.url("/moon.png") }, darkroom.options())
        let other = BatchID("20261121-090501999-0000")
        try FileManager.default.createDirectory(atPath: folder(other), withIntermediateDirectories: true)
        let held = try releasedClaim(reporting: "F.")
        try write(id, fencingToken: held.fencingToken, [(0, .filtered)], name: "sound")
        try write(other, fencingToken: held.fencingToken + 1, [(0, .filtered)], name: "foreign")
        let file = ManifestPath.fileName(operation: 1, fencingToken: held.fencingToken + 1)
        try FileManager.default.moveItem(atPath: "\(folder(other))/\(file)", toPath: "\(folder(id))/\(file)")

        try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(try names(id) == ["sound", "moon.png"])
        for file in try FileManager.default.contentsOfDirectory(atPath: folder(id)) {
            let text = try String(contentsOfFile: "\(folder(id))/\(file)", encoding: .utf8)
            #expect(!text.contains("foreign"), "\(file): \(text)")
        }
    }

    @Test func keepsFilesWithALaterFencingToken() throws {
        let id = BatchID("20261121-090501123-7f3a")
        try FileManager.default.createDirectory(atPath: folder(id), withIntermediateDirectories: true)
        for fencingToken in [3, 5, 8] { try write(id, fencingToken: fencingToken, [(0, .filtered)], name: "photo") }
        let context = try BatchContext(id, darkroom.options(), PhotoWorkerConfiguration())
        func sink(_ fencingToken: Int) throws -> any OperationSink {
            let held = HeldOperation(batch: id, number: 1, fencingToken: fencingToken)
            let claimed = ClaimedOperation(held: held, stateCodes: Array("F".utf8), leaseExpiries: 0, entry: [])
            let record = PhotoRecord(index: 0, name: "photo", url: "http://photos.example/0")
            return try context.storage.take().begin(claimed, [record], worker: "worker")
        }
        let own = try sink(5)
        // Files that are there at the claim with a later token are of claims that Redis has lost.
        try write(id, fencingToken: 9, [(0, .filtered)], name: "photo")
        own.removeOthers()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder(id)).sorted()
        #expect(left == [5, 9].map { ManifestPath.fileName(operation: 1, fencingToken: $0) })
        // A claim without a manifest file must not remove other files, since only the other files contain the lines.
        try sink(20).removeOthers()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder(id)).count == 2)
    }

    @Test func refusesABatchWhoseFolderAnotherBatchHasTaken() throws {
        let ids: [BatchID] = ["20261121-090501123-7f3a", "20261121-090501999-0000"]
        for id in ids { try FileManager.default.createDirectory(atPath: folder(id), withIntermediateDirectories: true) }
        func context(_ id: BatchID, taken: Int) throws -> BatchContext {
            try BatchContext(id, darkroom.options(), PhotoWorkerConfiguration(), taken: taken)
        }
        _ = try context(ids[0], taken: 100).storage.take()
        _ = try context(ids[1], taken: 200).storage.take()
        let refusal = expectError(Refusal.self) { _ = try context(ids[0], taken: 100).storage.take() }
        #expect(refusal?.reason.contains("batch \(ids[1]) has taken the folder") == true, "\(refusal as Refusal?)")
        _ = try context(ids[0], taken: 300).storage.take()
        #expect(throws: Refusal.self) { _ = try context(ids[1], taken: 200).storage.take() }
    }

    /// Claims the only operation of the batch, reports state codes of its photos, and releases the operation.
    private func releasedClaim(reporting stateCodes: String) throws -> HeldOperation {
        let store = darkroom.store
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: "earlier", number: 1, operations: 1))
        else { throw POSIXError(.EAGAIN) }
        let held = try #require(claimed.operations.first).held
        _ = try store.perform(
            store.report(
                held, worker: "earlier", stateCodes: Array(stateCodes.utf8), bytesIn: 1, bytesOut: 1, failures: []))
        _ = try store.perform(store.release(held, worker: "earlier"))
        return held
    }

    private func folder(_ id: BatchID) -> String { "\(darkroom.folder)/\(ManifestPath.folder(id))" }

    /// The names in the manifest, in the order of the list.
    private func names(_ id: BatchID) throws -> [String] {
        var part = try StorageSchemes.place(darkroom.folder).results.manifest.part(0, of: id)
        return try part.lines(ofOperation: 1).map(\.name)
    }

    private func write(
        _ id: BatchID, fencingToken: Int, _ photos: [(Int, PhotoState)], name: String, operation: Int = 1
    ) throws {
        var text: [UInt8] = []
        for (index, state) in photos {
            let record = PhotoRecord(index: index, name: name, url: "http://photos.example/\(index)")
            ManifestLine(batch: id, record: record, state: state).append(to: &text)
        }
        let path = "\(folder(id))/\(ManifestPath.fileName(operation: operation, fencingToken: fencingToken))"
        try Data(text).write(to: URL(fileURLWithPath: path))
    }
}
