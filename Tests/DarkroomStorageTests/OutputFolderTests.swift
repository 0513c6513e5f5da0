import DarkroomFiles
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage

@Suite struct OutputFolderTests {
    let batch = BatchID("20261121-090501123-7f3a")
    let other = BatchID("20261121-090501124-0000")

    func code(_ body: () throws -> Void) -> StorageError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    func withFolder(_ body: (OutputFolder) throws -> Void) throws {
        let scratch = try ScratchFolder()
        try body(OutputFolder(path: scratch.path("a/b")))
    }

    @Test func createsOnlyTheFolderAndItsManifestFolder() throws {
        try withFolder { folder in
            #expect(try folder.batches() == [])
            try folder.prepare(for: batch, overwrite: false)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["manifest"])
            #expect(try folder.batches() == [batch])
            #expect(folder.isUntouched(by: batch))
            try folder.prepare(for: batch, overwrite: false)
        }
    }

    @Test func refusesTheFolderOfAnotherBatchWithoutOverwrite() throws {
        try withFolder { folder in
            try folder.prepare(for: other, overwrite: false)
            #expect(code { try folder.prepare(for: batch, overwrite: false) } == .taken)
            #expect(try folder.batches() == [other])
            try folder.prepare(for: batch, overwrite: true)
            #expect(try folder.batches() == [batch, other])
            folder.withdraw(batch)
            #expect(try folder.batches() == [other])
            folder.withdraw(other)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func unusableFolderIsRefused() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
            let file = folder.path + "/file"
            try Data().write(to: URL(fileURLWithPath: file))
            for path in [file, file + "/below", "/proc/darkroom"] {
                #expect(code { try OutputFolder(path: path).prepare(for: batch, overwrite: false) } == .denied)
            }
            try Data().write(to: URL(fileURLWithPath: folder.path + "/manifest"))
            #expect(code { try folder.prepare(for: batch, overwrite: false) } == .denied)
        }
    }

    @Test func emptyManifestOfAFailedSubmissionIsIgnored() throws {
        let scratch = try ScratchFolder()
        let folder = OutputFolder(path: scratch.path("output"))
        try folder.prepare(for: other, overwrite: false, origin: 5)
        #expect(throws: StorageError.self) { try folder.prepare(for: batch, overwrite: false, origin: 5) }
        try folder.prepare(for: batch, overwrite: false, origin: 5) { $0 == other }
        #expect(try folder.batches() == [batch, other])
        // The manifest is not ignored if a worker has taken the folder for its batch or has written to it.
        let opened = try Folder(trusted: folder.path)
        #expect(try FolderHolder(owner: other.description, number: 7).take(ManifestPath.holder, in: opened) == nil)
        #expect(throws: StorageError.self) { try folder.checkFree(for: batch, origin: 5) { _ in true } }
        let holder = try #require(folder.holder)
        #expect(holder == (other, 7))
        folder.withdraw(other)
        try folder.checkFree(for: batch)
        #expect(folder.holder == nil)
        try opened.replace(ManifestPath.folder(batch) + "/00000001.1.jsonl", with: [10])
        #expect(throws: StorageError.self) { try folder.checkFree(for: other, origin: 5) { _ in true } }
        folder.withdraw(batch)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(arguments: [nil, 6]) func emptyManifestOfABatchOfAnotherRedisBlocksTheFolder(origin: Int?) throws {
        try withFolder { folder in
            try folder.prepare(for: other, overwrite: false, origin: origin)
            #expect(folder.isUntouched(by: other))
            // A Redis server that never had the batch cannot tell whether the batch was forgotten.
            #expect(
                code { try folder.prepare(for: batch, overwrite: false, origin: 5) { _ in true } } == .taken)
            #expect(code { try folder.prepare(for: batch, overwrite: false) { _ in true } } == .taken)
        }
    }

    @Test func largestNumberInTheHolderFileLeavesLaterNumbersValid() throws {
        try withFolder { folder in
            try folder.prepare(for: other, overwrite: false)
            let largest = FolderHolder(owner: other.description, number: FolderHolder.numbers.upperBound)
            _ = try largest.take(ManifestPath.holder, in: Folder(trusted: folder.path))
            #expect(folder.lastTaken < FolderHolder.numbers.upperBound)
        }
    }

    @Test func unreadableManifestBlocksTheFolder() throws {
        try withFolder { folder in
            try folder.prepare(for: other, overwrite: false, origin: 5)
            let manifest = folder.path + "/" + ManifestPath.folder(other)
            // Links are not followed.
            try FileManager.default.moveItem(atPath: manifest, toPath: folder.path + "/moved")
            try FileManager.default.createSymbolicLink(atPath: manifest, withDestinationPath: folder.path + "/moved")
            #expect(!folder.isUntouched(by: other))
            #expect(
                code { try folder.prepare(for: batch, overwrite: false, origin: 5) { _ in true } } == .taken)
        }
    }

    @Test func removesNothingThroughALink() throws {
        let scratch = try ScratchFolder()
        let folder = OutputFolder(path: scratch.path("output"))
        let victim = scratch.path("victim")
        try FileManager.default.createDirectory(atPath: victim + "/\(batch)/deep", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(symlink(victim, folder.path + "/manifest") == 0)
        folder.withdraw(batch)
        #expect(throws: StorageError.self) { try folder.prepare(for: other, overwrite: true) }
        #expect(throws: StorageError.self) { try folder.batches() }
        #expect(throws: ManifestError.self) { try folder.results.manifest.batches() }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: victim).sorted() == ["\(batch)", "\(batch)/deep"])
    }
}

extension OutputFolder {
    /// Checks and creates the folder as a coordinator does.
    fileprivate func prepare(
        for batch: BatchID, overwrite: Bool, origin: Int? = nil, isGone: (BatchID) -> Bool = { _ in false }
    ) throws(StorageError) {
        if !overwrite { try checkFree(for: batch, origin: origin, isGone: isGone) }
        try reserve(for: batch, origin: origin)
    }
}
