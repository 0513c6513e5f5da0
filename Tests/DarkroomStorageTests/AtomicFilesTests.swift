import DarkroomFiles
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage

/// A file is complete or absent, even if the disk is full or not mounted, or if other files have the same name.
@Suite struct AtomicFilesTests {
    private let scratch: ScratchFolder
    private var folder: String { scratch.path }
    private var place: OutputPlace { OutputPlace(folder: folder, marker: "manifest/1") }

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("manifest/1")
    }

    @Test func createsTheFolderOfAFileAndReplacesAnExistingFile() throws {
        for text in ["first", "second"] {
            try AtomicFiles.write(Array(text.utf8), to: "00001/a.jpg", in: place, temporaryName: ".a")
        }
        #expect(FileManager.default.contents(atPath: folder + "/00001/a.jpg") == Data("second".utf8))
        #expect(try contents("00001") == ["a.jpg"])
    }

    @Test(arguments: ["a.jpg", "00001/a.jpg", "manifest/1/00000001.1.jsonl"])
    func createsNothingWithoutTheMarker(path: String) throws {
        try FileManager.default.removeItem(atPath: folder + "/manifest")
        let fault = try #require(self.fault(writing: path))
        #expect(fault.reason == .outputDenied && fault.detail.contains("is its share mounted?"))
        #expect(try contents("").isEmpty)
        #expect(fault.scope == .batch && fault.check.fault(room: fault.room) != nil)
        try FileManager.default.createDirectory(atPath: folder + "/manifest/1", withIntermediateDirectories: true)
        #expect(fault.check.fault(room: fault.room) == nil)
        // If the folder is back before the first check, no photo fails.
        let late = place.fault(writing: path, byteCount: 3, SystemFailure("see", ENOENT))
        #expect(late.scope == .batch)
    }

    @Test func fullDiskIsAStorageFaultUntilSpaceIsFree() throws {
        let fault = place.fault(writing: "a.jpg", byteCount: 3, SystemFailure("write", ENOSPC))
        #expect(fault.isFull && fault.reason == .diskFull && fault.domain == StorageDomain(of: folder))
        #expect(fault.domain != nil && fault.room == FolderCheck.leastRoom)
        #expect(fault.check.fault(room: fault.room) == nil, "the disk has free space")
    }

    @Test(arguments: [".a", "a.jpg"]) func replacesASymbolicLinkWithTheNameOfTheFile(name: String) throws {
        let victim = folder + "-victim"
        defer { unlink(victim) }
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        let planted = folder + "/" + name
        for plant in [{ symlink(victim, planted) }, { link(victim, planted) }] {
            unlink(planted)
            #expect(plant() == 0)
            #expect(fault(writing: "a.jpg") == nil)
            #expect(FileManager.default.contents(atPath: folder + "/a.jpg") == Data([1, 2, 3]))
            #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
            #expect(try contents("") == ["a.jpg", "manifest"])
        }
    }

    @Test(arguments: ["00001", "manifest", "manifest/1"])
    func doesNotFollowASymbolicLinkInPlaceOfAFolder(name: String) throws {
        let victim = folder + "-victim"
        defer { try? FileManager.default.removeItem(atPath: victim) }
        try FileManager.default.createDirectory(atPath: victim + "/1", withIntermediateDirectories: true)
        try? FileManager.default.removeItem(atPath: folder + "/" + name)
        #expect(symlink(victim, folder + "/" + name) == 0)
        let fault = try #require(self.fault(writing: name == "00001" ? "00001/a.jpg" : "a.jpg"))
        #expect(fault.reason == .outputDenied && fault.detail.contains("symbolic link"), "\(fault)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: victim) == ["1"])
        // A missing manifest folder is a storage fault. A bad sub-folder affects only its own photos.
        #expect(fault.scope == (name == "00001" ? .file : .batch))
    }

    // MARK: - Several files

    private func file(_ path: String, _ text: String = "photo") -> AtomicFiles.File {
        AtomicFiles.File(MadeFile(Array(text.utf8), ending: "jpg"), path: path)
    }

    private func write(
        _ files: [AtomicFiles.File], isWanted: () -> Bool = { true }
    ) throws(StorageFault) -> Bool {
        try AtomicFiles.write(files, in: place, temporaryName: ".0", isWanted: isWanted)
    }

    /// The paths of all files.
    private func found() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
            return !isFolder.boolValue
        }.sorted()
    }

    @Test func filesGetTheirNamesWhenAllAreWritten() throws {
        let files = [file("small/a.jpg"), file("large/00001/a.jpg")]
        var before: [String]?
        let isWritten = try write(files) {
            before = try? found()
            return true
        }
        #expect(isWritten)
        #expect(before == ["large/00001/.0", "small/.0"])
        #expect(try found() == ["large/00001/a.jpg", "small/a.jpg"])
    }

    private func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: scratch.path(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first rendition cannot be written, the last cannot be written, or the last cannot get its name. The files of
    /// an earlier development stay.
    @Test(arguments: ["small", "large", "large/a.jpg"]) func failedFileChangesNoOtherFile(obstacle: String) throws {
        if obstacle == "large/a.jpg" {
            try scratch.makeFolder(obstacle)
        } else {
            try scratch.write(obstacle, "not a folder")
        }
        let earlier = ["small/a.jpg", "middle/a.jpg"].filter { !$0.hasPrefix(obstacle) }
        for path in earlier {
            try scratch.makeFolder(String(path.prefix { $0 != "/" }))
            try scratch.write(path, "earlier")
        }
        let before = try found()
        do throws(StorageFault) {
            _ = try write([file("small/a.jpg"), file("middle/a.jpg"), file("large/a.jpg")])
            Issue.record("a file was written over \(obstacle)")
        } catch {
            #expect(error.reason == .outputDenied && error.remains == nil)
            #expect(error.detail.contains("\(folder)/\(obstacle)"), "\(error.detail)")
            #expect(error.scope == .file, "only this photo fails")
        }
        #expect(try found() == before)
        for path in earlier { #expect(text(path) == "earlier") }
    }

    /// The second rename fails for a reason that is not found before the first rename.
    @Test func fileWithItsFinalNameIsNotRemoved() throws {
        #expect(throws: StorageFault.self) {
            try write([file("small/a.jpg", "new"), file("large/a.jpg")]) { unlink(folder + "/large/.0") == 0 }
        }
        #expect(try found() == ["small/a.jpg"] && text("small/a.jpg") == "new")
        #expect(try write([file("small/a.jpg", "next"), file("large/a.jpg")]))
        #expect(try found() == ["large/a.jpg", "small/a.jpg"] && text("small/a.jpg") == "next")
    }

    @Test func doesNotWriteThroughALinkInPlaceOfTheFolderOfARendition() throws {
        let victim = try ScratchFolder()
        #expect(symlink(victim.path, folder + "/large") == 0)
        #expect(throws: StorageFault.self) { try write([file("small/a.jpg"), file("large/a.jpg")]) }
        #expect(try victim.contents("") == [])
        #expect(try contents("small") == [])
    }

    /// A slash followed by a combining character is a different `Character`, but still a path separator for the kernel.
    @Test func nameThatBeginsWithACombiningCharacterStaysInItsFolder() throws {
        let victim = folder + "-victim"
        defer { try? FileManager.default.removeItem(atPath: victim) }
        try FileManager.default.createDirectory(atPath: victim, withIntermediateDirectories: true)
        let template = try FileNameTemplate("{name}", namesAreUnique: true)
        let path = template.path(index: 10_000, name: "\u{301}evil", ending: "jpg")
        #expect(path.utf8.elementsEqual("00001/\u{301}evil.jpg".utf8))
        // Writing the first file of a folder creates the folder.
        #expect(fault(writing: path) == nil)
        #expect(try contents("00001").map { Array($0.utf8) } == [Array("\u{301}evil.jpg".utf8)])
        try FileManager.default.removeItem(atPath: folder + "/00001")
        #expect(symlink(victim, folder + "/00001") == 0)
        let fault = try #require(self.fault(writing: path))
        #expect(fault.detail.contains("symbolic link"), "\(fault)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: victim).isEmpty)
    }

    @Test func doesNotFollowLinksBelowATrustedFolder() throws {
        let trusted = folder + "-link"
        defer { unlink(trusted) }
        #expect(symlink(folder, trusted) == 0, "the trusted folder itself may be a symbolic link")
        try FileManager.default.createDirectory(atPath: folder + "/deep/manifest/1", withIntermediateDirectories: true)
        let good = OutputPlace(folder: trusted + "/deep", trusted: trusted, marker: "manifest/1")
        try AtomicFiles.write([1], to: "a.jpg", in: good, temporaryName: ".a")
        #expect(try contents("deep") == ["a.jpg", "manifest"])
        #expect(symlink("deep", folder + "/linked") == 0)
        let bad = OutputPlace(folder: trusted + "/linked", trusted: trusted, marker: "manifest/1")
        #expect(throws: StorageFault.self) {
            try AtomicFiles.write([1], to: "b.jpg", in: bad, temporaryName: ".b")
        }
        #expect(try contents("deep") == ["a.jpg", "manifest"])
    }

    @Test func folderWithTheNameOfAFileIsNotAStorageFault() throws {
        try FileManager.default.createDirectory(atPath: folder + "/a.jpg", withIntermediateDirectories: true)
        let fault = try #require(self.fault(writing: "a.jpg"))
        #expect(fault.reason == .outputDenied && fault.scope == .file)
        #expect(try contents("") == ["a.jpg", "manifest"])
        #expect(FileManager.default.createFile(atPath: folder + "/00001", contents: nil))
        let other = try #require(self.fault(writing: "00001/a.jpg"))
        #expect(other.reason == .outputDenied && other.scope == .file)
    }

    @Test(arguments: [true, false])
    func linkOrFileInPlaceOfAManifestFolderIsAStorageFault(isLink: Bool) throws {
        let planted = folder + "/manifest/1/00001"
        if isLink {
            #expect(symlink(folder, planted) == 0)
        } else {
            #expect(FileManager.default.createFile(atPath: planted, contents: nil))
        }
        let fault = try #require(self.fault(writing: "manifest/1/00001/00001000.1.jsonl"))
        #expect(fault.scope == .batch && fault.check.fault(room: fault.room) != nil)
        #expect(fault.detail.contains("the manifest belongs there"))
        #expect(unlink(planted) == 0 && fault.check.fault(room: fault.room) == nil)
    }

    @Test func openFolderDetectsItsReplacement() throws {
        let open = try OpenFolder(place)
        #expect(open.isStillThere)
        #expect(rename(folder + "/manifest/1", folder + "/away") == 0)
        #expect(!open.isStillThere)
        #expect(mkdir(folder + "/manifest/1", 0o755) == 0)
        #expect(!open.isStillThere)
        #expect(rmdir(folder + "/manifest/1") == 0 && rename(folder + "/away", folder + "/manifest/1") == 0)
        #expect(open.isStillThere)
    }

    private func fault(writing path: String) -> StorageFault? {
        do throws(StorageFault) {
            try AtomicFiles.write([1, 2, 3], to: path, in: place, temporaryName: ".a")
            return nil
        } catch {
            return error
        }
    }

    private func contents(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/" + name).sorted()
    }
}
