import DarkroomConcurrency
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) final class FileTransferTests {
    private let scratch: ScratchFolder
    private var root: URL { scratch.url }
    private var photos: URL { root.appendingPathComponent("photos") }

    init() throws {
        scratch = try ScratchFolder()
        let files = FileManager.default
        try files.createDirectory(at: photos.appendingPathComponent("deep"), withIntermediateDirectories: true)
        try files.createDirectory(at: root.appendingPathComponent("photos-not"), withIntermediateDirectories: true)
        for name in ["photos/a b.jpg", "photos/deep/c.jpg", "photos-not/d.jpg", "outside.jpg"] {
            try Data(name.utf8).write(to: root.appendingPathComponent(name))
        }
        for (link, target) in [
            ("photos/out.jpg", "../outside.jpg"), ("photos/in.jpg", "deep/c.jpg"), ("photos/up", ".."),
            ("linked", "photos"),
        ] {
            try files.createSymbolicLink(
                atPath: root.appendingPathComponent(link).path, withDestinationPath: target)
        }
        try #require(mkfifo(photos.appendingPathComponent("pipe").path, 0o600) == 0)
    }

    private func fetch(_ path: String, folders: [String]? = nil, maxBytes: Int = 100) async -> Result<
        Download, TransferError
    > {
        var configuration = TransferConfiguration()
        configuration.fileFolders = folders ?? [photos.path]
        configuration.maxBytes = maxBytes
        return await TransferEngine(configuration).fetch("file://" + root.path + "/" + path)
    }

    @Test(arguments: [
        ("photos/a%20b.jpg", "photos/a b.jpg"), ("photos/deep/c.jpg", "photos/deep/c.jpg"),
        ("photos/in.jpg", "photos/deep/c.jpg"), ("linked/deep/../in.jpg", "photos/deep/c.jpg"),
    ])
    func readsFilesBelowTheFolders(path: String, content: String) async throws {
        let download = try await fetch(path).get()
        #expect(download.body == Array(content.utf8))
        #expect(download.attempts == 1)
    }

    private static let names: [[UInt8]] = [
        Array("tab\t.jpg".utf8), Array("l\n\r\u{1}.jpg".utf8), [0x63, 0xe9], Array("deep/\u{e9}".utf8) + [0xff],
    ]

    @Test(arguments: names) func readsFilesWhoseNamesHaveAnyBytes(name: [UInt8]) async throws {
        let path = Array(photos.path.utf8) + Array("/".utf8) + name
        let descriptor = (path + [0]).withUnsafeBytes { bytes in
            open(bytes.bindMemory(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o600)  // ends with a NUL byte
        }
        #expect(write(descriptor, "photo", 5) == 5 && close(descriptor) == 0)
        let encoded = name.map { $0 == UInt8(ascii: "/") ? "/" : "%" + String(format: "%02X", $0) }.joined()
        #expect(await fetch("photos/" + encoded).body == Array("photo".utf8))
        #expect(await fetch("photos/" + encoded, folders: [root.path + "/none"]).error?.code == .fileDenied)
    }

    @Test func readsBelowAFolderThatIsALink() async {
        let result = await fetch("photos/deep/c.jpg", folders: [root.path + "/linked/"])
        #expect(result.body == Array("photos/deep/c.jpg".utf8))
    }

    @Test(arguments: [
        "outside.jpg", "photos/out.jpg", "photos/../outside.jpg", "photos/%2e%2e/outside.jpg", "photos/up/outside.jpg",
        "photos-not/d.jpg", "missing.jpg", "photos/../missing.jpg", "photos/nowhere/../../missing.jpg", "photos",
    ])
    func readsNoFileOutsideTheFolders(path: String) async {
        let error = await fetch(path).error
        #expect(error?.code == .fileDenied, "\(error?.detail ?? "no error")")
    }

    /// In Swift, a slash and a following combining character are one `Character`; for the kernel, the slash is still a
    /// separator.
    @Test func errorDoesNotRevealFilesOutsideTheFolders() {
        let folders = ReadableFolders(folders: [photos.path], maxBytes: 100)
        for path in ["/../\u{301}missing.jpg", "/nowhere/..//../\u{301}missing.jpg"] {
            let refusal = expectError(TransferError.self) {
                try folders.contents(ofFile: "\(photos.path)\(path)", unless: Latch())
            }
            #expect(refusal?.code == .fileDenied, "\(refusal?.detail ?? "no error")")
        }
    }

    @Test func readsNoFileByDefault() async {
        #expect(await fetch("photos/a%20b.jpg", folders: []).error?.code == .fileDenied)
    }

    @Test(arguments: ["photos/missing.jpg", "photos/deep", "photos/pipe", "photos/a%20b.jpg/x"])
    func otherPathsAreNotFound(path: String) async {
        let error = await fetch(path).error
        #expect(error?.code == .fileNotFound, "\(error?.detail ?? "no error")")
    }

    @Test func cancelledReadIsRefused() throws {
        let folders = ReadableFolders(folders: [photos.path], maxBytes: 100)
        let cancelled = Latch()
        #expect(try folders.contents(ofFile: "\(photos.path)/a b.jpg", unless: cancelled).bytes.count == 14)
        cancelled.set()
        let refusal = expectError(TransferError.self) {
            try folders.contents(ofFile: "\(photos.path)/a b.jpg", unless: cancelled)
        }
        #expect(refusal?.code == .cancelled)
    }

    /// The target of a path may change between the check and the opening of the file.
    @Test func folderReplacedByALinkDuringAReadIsNotFollowed() throws {
        let folders = ReadableFolders(folders: [photos.path], maxBytes: 100)
        let (deep, away) = (photos.path + "/deep", photos.path + "/away")
        let other = root.appendingPathComponent("photos-not").path
        try Data("secret".utf8).write(to: URL(fileURLWithPath: other + "/c.jpg"))
        let isOver = Latch()
        let swapper = Thread {
            while !isOver.isSet {
                _ = rename(deep, away)
                _ = symlink(other, deep)
                usleep(20)  // so that reads meet the link as often as the folder on any number of cores
                unlink(deep)
                _ = rename(away, deep)
                usleep(20)
            }
        }
        swapper.start()
        var found: Set<String> = []
        var (read, refused) = (0, 0)
        let deadline = ContinuousClock.now + .seconds(20)
        while read < 200 || refused < 200, .now < deadline {
            do {
                let bytes = try folders.contents(ofFile: "\(deep)/c.jpg", unless: Latch()).bytes
                found.insert(String(decoding: bytes, as: UTF8.self))
                read += 1
            } catch {
                refused += 1
            }
        }
        isOver.set()
        while !swapper.isFinished { sched_yield() }
        #expect(found == ["photos/deep/c.jpg"])
        #expect(read >= 200 && refused >= 200)
    }

    @Test func refusesFilesThatAreTooLarge() async {
        #expect(await fetch("photos/deep/c.jpg", maxBytes: 16).error?.code == .tooLarge)
        #expect(await fetch("photos/deep/c.jpg", maxBytes: 17).body?.count == 17)
    }

    @Test func readsManyAtOnceAndStreamsThem() async throws {
        var configuration = TransferConfiguration()
        configuration.fileFolders = [photos.path]
        let engine = TransferEngine(configuration)
        let results = Collected<Result<Download, TransferError>>()
        let pieces = Collected<[UInt8]>()
        let url = "file://" + photos.path + "/deep/c.jpg"
        for _ in 0..<500 { engine.start(url, completion: results.add) }
        engine.start(url, onChunk: { pieces.add(Array($0)) }, completion: results.add)
        let all = await results.wait(for: 501)
        #expect(all.filter { $0.body == Array("photos/deep/c.jpg".utf8) }.count == 500)
        #expect(pieces.values == [Array("photos/deep/c.jpg".utf8)])
    }
}
