import DarkroomCoding
import DarkroomModel
import DarkroomOrigins
import DarkroomTestSupport
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomStorage

@Suite struct OriginalsFolderTests {
    private let scratch: ScratchFolder
    private var originals: String { scratch.path }
    private let rules = FetchRules(TransferConfiguration())

    init() throws { scratch = try ScratchFolder() }

    private func folder() -> OriginalsFolder { OriginalsFolder(in: originals) }

    @Test func usesRedirectedOriginalsOnlyIfTheWorkerMayFollowTheRedirect() throws {
        let folder = folder()
        let way = ["a.example", "b.example"].map { RequestStop(host: $0, address: "93.184.215.14") }
        try folder.write([1], of: "u", by: way)
        var configuration = TransferConfiguration()
        #expect(try folder.read("u", FetchRules(configuration))?.bytes == [1])
        configuration.deniedHosts = [try HostPattern(parsing: "b.example")]
        #expect(try folder.read("u", FetchRules(configuration)) == nil)
    }

    @Test(arguments: ["", "\n", "photos.example", "photos.example \n", "photos.example nowhere\n"])
    func doesNotUseAnOriginalWithAMalformedWayFile(way: String) throws {
        let folder = folder()
        let stop = RequestStop(host: "photos.example", address: "127.0.0.1")
        let ordinary = RequestStop(host: "photos.example", address: "93.184.215.14")
        try folder.write([1], of: "o", by: [ordinary])
        #expect(try folder.read("o", rules)?.bytes == [1])
        try folder.write([1], of: "u", by: [stop])
        var everything = TransferConfiguration()
        everything.allowPrivate = true
        #expect(try folder.read("u", FetchRules(everything))?.bytes == [1] && folder.read("u", rules) == nil)
        try Data(way.utf8).write(to: URL(fileURLWithPath: "\(originals)/\(OriginalsFolder.file(of: "u")).way"))
        #expect(try folder.read("u", rules) == nil && folder.read("u", FetchRules(everything)) == nil)
    }

    @Test func doesNotUseAnOriginalWithATooLargeWayFile() throws {
        let folder = folder()
        try folder.write([1], of: "u", by: [])
        let way = Data(repeating: UInt8(ascii: "x"), count: 1 << 17)
        try way.write(to: URL(fileURLWithPath: "\(originals)/\(OriginalsFolder.file(of: "u")).way"))
        #expect(try folder.read("u", rules) == nil)
    }

    @Test func namesTheFileByTheDigestOfItsURL() {
        // printf http://photos.example/1 | sha256sum
        #expect(
            OriginalsFolder.file(of: "http://photos.example/1")
                == "51/518184fa4833fab05b2d3830b0dc53766815d4f98e77c5cb1ac7c58ff3c33e89")
    }

    @Test func bytesThatAnotherWorkerHasReplacedAreNotRemoved() throws {
        let folder = folder()
        let url = "http://photos.example/a.jpg", digest = SHA256Digest.hash(of: Array("first".utf8))
        #expect(folder.remove(url, ifDigestIs: digest))
        try folder.write(Array("second".utf8), of: url, by: [])
        #expect(!folder.remove(url, ifDigestIs: digest))
        #expect(scratch.exists(OriginalsFolder.file(of: url)))
        try folder.write(Array("first".utf8), of: url, by: [])
        #expect(folder.remove(url, ifDigestIs: digest))
        #expect(!scratch.exists(OriginalsFolder.file(of: url)))
    }

    @Test func doesNotFollowSymbolicLinks() throws {
        let folder = folder()
        let parent = "\(originals)/\(OriginalsFolder.file(of: "u").prefix(2))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        #expect(symlink("/dev/full", "\(parent)/.batch-0.1.worker.1") == 0)
        try folder.write([1, 2, 3], of: "u", by: [])
        #expect(try folder.read("u", rules)?.bytes == [1, 2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent).count == 1)
        #expect(rename(parent, originals + "/elsewhere") == 0 && symlink("elsewhere", parent) == 0)
        #expect(try folder.read("u", rules) == nil)
        #expect(throws: StorageFault.self) {
            try folder.write([1], of: "u", by: [])
        }
    }

    @Test func doesNotCreateAMissingFolderAgain() throws {
        let folder = OriginalsFolder(in: originals + "/gone")
        var detail = ""
        do { try folder.write([1], of: "u", by: []) } catch { detail = error.detail }
        #expect(detail.contains("is its share mounted?"))
        #expect(try folder.read("u", rules) == nil)
    }

    @Test func readsOnlyRegularFiles() throws {
        let folder = folder()
        let path = "\(originals)/\(OriginalsFolder.file(of: "u"))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(try folder.read("u", rules) == nil)
        #expect(rmdir(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(try folder.read("u", rules) == nil)
        #expect(unlink(path) == 0 && symlink("/etc/passwd", path) == 0)
        #expect(try folder.read("u", rules) == nil)
        #expect(unlink(path) == 0 && FileManager.default.createFile(atPath: path, contents: Data([7, 8])))
        #expect(try folder.read("u", rules)?.bytes == [7, 8])
    }
}
