import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Files that are whole or not there, on disks that are full, away, or in the way.
@Suite struct OutputWriterTests {
    private let folder = NSTemporaryDirectory() + "darkroom-writer-\(UUID().uuidString)"
    private var place: OutputPlace { OutputPlace(folder: folder, sign: "manifest/1") }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder + "/manifest/1", withIntermediateDirectories: true)
    }

    @Test func makesTheFolderOfAFileAndReplacesWhatIsThere() throws {
        defer { remove() }
        for text in ["first", "second"] {
            try OutputWriter.write(Array(text.utf8), to: "00001/a.jpg", in: place, temporaryName: ".a")
        }
        #expect(FileManager.default.contents(atPath: folder + "/00001/a.jpg") == Data("second".utf8))
        #expect(try contents("00001") == ["a.jpg"])
    }

    @Test(arguments: ["a.jpg", "00001/a.jpg", "manifest/1/00000001.1.jsonl"])
    func nothingIsMadeWhereTheSignIsNotSeen(path: String) throws {
        defer { remove() }
        try FileManager.default.removeItem(atPath: folder + "/manifest")
        let failure = try #require(self.failure(writing: path))
        #expect(failure.reason == .outputDenied && failure.detail.contains("is its share mounted?"))
        #expect(try contents("").isEmpty)
        let obstacle = try #require(OutputObstacle(failure))
        #expect(obstacle.kind == .away && !obstacle.isOfDevice && obstacle.look() != nil)
        try FileManager.default.createDirectory(atPath: folder + "/manifest/1", withIntermediateDirectories: true)
        #expect(obstacle.look() == nil)
        // It was there again before anybody looked: no photo fails for that.
        #expect(OutputObstacle(failure)?.kind == .away)
    }

    @Test func fullDiskIsAnObstacleAndLeavesNothing() throws {
        defer { remove() }
        // Root may write to a full device, too: it is the device itself that is full.
        #expect(symlink("/dev/full", folder + "/.a") == 0)
        let failure = try #require(self.failure(writing: "a.jpg"))
        #expect(failure.reason == .diskFull && failure.left == nil)
        #expect(try contents("") == ["manifest"])
        let obstacle = try #require(OutputObstacle(failure))
        #expect(obstacle.kind == .full && obstacle.isOfDevice)
        #expect(obstacle.look() == nil, "there is room here")
    }

    @Test func nameThatIsTakenByAFolderIsNoObstacle() throws {
        defer { remove() }
        try FileManager.default.createDirectory(atPath: folder + "/a.jpg", withIntermediateDirectories: true)
        let failure = try #require(self.failure(writing: "a.jpg"))
        #expect(failure.reason == .outputDenied && OutputObstacle(failure) == nil)
        #expect(try contents("") == ["a.jpg", "manifest"])
        #expect(FileManager.default.createFile(atPath: folder + "/00001", contents: nil))
        let other = try #require(self.failure(writing: "00001/a.jpg"))
        #expect(other.reason == .outputDenied && OutputObstacle(other) == nil)
    }

    @Test func whatIsNotWantedAnyMoreLeavesNothing() throws {
        defer { remove() }
        let written = try [UInt8](repeating: 1, count: 10).withUnsafeBytes { bytes in
            try OutputWriter.write(bytes, to: "a.jpg", in: place, temporaryName: ".a", isWanted: { false })
        }
        #expect(!written)
        #expect(try contents("") == ["manifest"])
    }

    @Test func openFolderNoticesThatAnotherTookItsPlace() throws {
        defer { remove() }
        let open = try OpenFolder(place.signPath)
        #expect(open.isStillThere)
        #expect(rename(folder + "/manifest/1", folder + "/away") == 0)
        #expect(!open.isStillThere)
        #expect(mkdir(folder + "/manifest/1", 0o755) == 0)
        #expect(!open.isStillThere)
        #expect(rmdir(folder + "/manifest/1") == 0 && rename(folder + "/away", folder + "/manifest/1") == 0)
        #expect(open.isStillThere)
    }

    private func failure(writing path: String) -> OutputWriter.Failure? {
        do throws(OutputWriter.Failure) {
            try OutputWriter.write([1, 2, 3], to: path, in: place, temporaryName: ".a")
            return nil
        } catch {
            return error
        }
    }

    private func contents(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder + "/" + name).sorted()
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }
}
