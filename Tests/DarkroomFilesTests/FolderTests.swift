import DarkroomConcurrency
import Foundation
import Testing

@testable import DarkroomFiles

/// File system calls for paths in a folder stay in the folder, even if other users put links there. Every test runs
/// with and without openat2.
@Suite struct FolderTests {
    let scratch: GuardedFolder

    init() throws { scratch = try GuardedFolder() }

    private static let ways: [PathResolution] = [.kernel, .stepwise]

    @Test(arguments: ways) func writesReadsMovesAndRemovesBelow(way: PathResolution) throws {
        let folder = try scratch.inside(way)
        try folder.replace("a/b/one", with: Array("first".utf8))
        try folder.replace("a/b/one", with: Array("second".utf8), mode: 0o644)
        #expect(try folder.contents(of: "a//./b/one") == Array("second".utf8))
        try folder.rename("a/b/one", to: "a/two")
        #expect(try folder.folder("a").names().sorted() == ["b", "two"])
        #expect(try folder.makeFolder("x/y/z").status().st_ino == folder.folder("x/y/z").status().st_ino)
        #expect(try folder.status(of: "a/none") == nil && folder.status(of: "none/none") == nil)
        try folder.remove("a/two")
        try folder.remove("a/two")
        try folder.removeTree("a")
        try folder.removeTree("x")
        #expect(try scratch.contents("inside").isEmpty)
    }

    /// Paths that lead out of the folder. In Swift, a slash and a following combining character are one `Character`;
    /// for the kernel, the slash is still a separator.
    private static let pathsOut = [
        "..", "../outside/file", "a/../../outside/file", "/etc/passwd", "a/..", "a\0/b", "../\u{301}x", "/\u{301}x",
        "a/..//\u{301}x", "../\u{301}x/../outside/file", "a/\u{301}b/../../..",
    ]

    @Test(arguments: ways, pathsOut)
    func refusesPathsThatLeaveTheFolder(way: PathResolution, path: String) throws {
        let folder = try scratch.inside(way)
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in _ = try folder.open(path, O_RDONLY) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in _ = try folder.create(path) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in _ = try folder.makeFolder(path) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in try folder.removeTree(path) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in try folder.rename("a", to: path) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in _ = try folder.status(of: path) }))
        #expect([EXDEV, EINVAL].contains(failure { () throws(SystemFailure) in try folder.replace(path, with: [1]) }))
        #expect(scratch.text("outside/file") == "precious")
        #expect(try scratch.contents("") == ["inside", "inside/a", "inside/a/b", "outside", "outside/file"])
    }

    @Test(arguments: ways) func slashBeforeACombiningCharacterIsASeparator(way: PathResolution) throws {
        let folder = try scratch.inside(way)
        try folder.replace("a/\u{301}b", with: [1])
        try folder.rename("a/\u{301}b", to: "a/b/\u{301}c")
        #expect(try folder.folder("a/b").names().map { Array($0.utf8) } == [Array("\u{301}c".utf8)])
        _ = try folder.makeFolder("x/\u{301}y/\u{301}z")
        #expect(try folder.folder("x/\u{301}y").names().map { Array($0.utf8) } == [Array("\u{301}z".utf8)])
        // Dots with a combining character are an ordinary name.
        _ = try folder.makeFolder("..\u{301}/.\u{301}")
        #expect(try folder.status(of: "..\u{301}/.\u{301}") != nil)
        for name in ["a", "x", "..\u{301}"] { try folder.removeTree(name) }
        #expect(try scratch.contents("inside").isEmpty)
    }

    @Test(arguments: ways, ["link", "a/link", "a/b/link", "a/b/\u{301}link"])
    func followsNoLinkAtAnyLevel(way: PathResolution, link: String) throws {
        let folder = try scratch.inside(way)
        try followNoLink(folder, link, "file")
        try followNoLink(folder, link, "\u{301}file")
        #expect(try scratch.contents("outside") == ["file"])
        #expect(scratch.text("outside/file") == "precious")
    }

    private func followNoLink(_ folder: Folder, _ link: String, _ name: String) throws {
        // A link out of the folder, a link inside it, a link without a target.
        for target in [scratch.path + "/outside", ".", "missing"] {
            try scratch.link(link, to: target)
            let file = link + "/" + name
            #expect(failure { () throws(SystemFailure) in _ = try folder.open(file, O_RDONLY) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.folder(link) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.openFile(link) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.create(file) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.makeFolder(link + "/new") } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.makeFolder(link) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in try folder.remove(file) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in try folder.removeTree(file) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in _ = try folder.status(of: file) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in try folder.rename("a", to: file) } == ELOOP)
            #expect(failure { () throws(SystemFailure) in try folder.replace(file, with: [1]) } == ELOOP)
            try folder.removeTree(link)
            #expect(try folder.status(of: link) == nil, "removeTree did not remove the link")
        }
    }

    @Test(arguments: ways) func newFileReplacesPlantedLinksAndPipes(way: PathResolution) throws {
        let folder = try scratch.inside(way)
        let place = scratch.path + "/inside/new"
        try scratch.link("new", to: scratch.path + "/outside/file")
        try folder.replace("new", with: [1])
        #expect(link(scratch.path + "/outside/file", scratch.path + "/inside/hard") == 0)
        for plant in [
            { symlink(self.scratch.path + "/outside/file", place) },
            { link(self.scratch.path + "/outside/file", place) },
            { mkfifo(place, 0o666) },
        ] {
            try folder.remove("new")
            #expect(plant() == 0)
            let file = try folder.create("new")
            #expect(write(file, "mine", 4) == 4)
            close(file)
            #expect(scratch.text("inside/new") == "mine" && scratch.text("outside/file") == "precious")
        }
        try folder.rename("new", to: "hard")
        #expect(scratch.text("inside/hard") == "mine" && scratch.text("outside/file") == "precious")
    }

    @Test(arguments: ways) func readsRegularFilesOnly(way: PathResolution) throws {
        let folder = try scratch.inside(way)
        #expect(mkfifo(scratch.path + "/inside/pipe", 0o666) == 0)
        #expect(failure { () throws(SystemFailure) in _ = try folder.contents(of: "pipe") } == EINVAL)
        #expect(failure { () throws(SystemFailure) in _ = try folder.contents(of: "a") } == EINVAL)
        if mknod(scratch.path + "/inside/device", S_IFCHR | 0o666, 0x103) == 0 {  // /dev/null, which root may make
            #expect(failure { () throws(SystemFailure) in _ = try folder.contents(of: "device") } == EINVAL)
        }
        try scratch.write("inside/large", String(repeating: "x", count: 1000))
        #expect(failure { () throws(SystemFailure) in _ = try folder.contents(of: "large", maxBytes: 999) } == EFBIG)
        #expect(try folder.contents(of: "large", maxBytes: 1000).count == 1000)
    }

    @Test func errorWhileAFolderIsListedIsThrown() throws {
        let stream = try #require(opendir(scratch.path + "/inside"))
        defer { closedir(stream) }
        let file = open(scratch.path + "/outside/file", O_RDONLY)
        defer { close(file) }
        #expect(dup2(file, dirfd(stream)) >= 0)  // now the kernel refuses to list
        #expect(failure { () throws(SystemFailure) in _ = try namesOfEntries(in: stream) } == ENOTDIR)
    }

    @Test(arguments: ways) func folderReplacedByALinkDuringAWriteIsNotFollowed(way: PathResolution) throws {
        let folder = try scratch.inside(way)
        let root = scratch.path
        let isOver = Latch()
        let swapper = Thread {
            while !isOver.isSet {
                _ = rename(root + "/inside/a", root + "/inside/away")
                _ = symlink(root + "/outside", root + "/inside/a")
                usleep(20)  // so that writes meet the link as often as the folder on any number of cores
                unlink(root + "/inside/a")
                _ = rename(root + "/inside/away", root + "/inside/a")
                usleep(20)
            }
        }
        swapper.start()
        // Repeats until 20 writes have succeeded (`a` was the folder) and 20 have been refused (`a` was the link).
        var (written, refused) = (0, 0)
        let deadline = ContinuousClock.now + .seconds(20)
        while written < 20 || refused < 20, .now < deadline {
            switch failure({ () throws(SystemFailure) in try folder.replace("a/photo", with: [1]) }) {
            case 0: written += 1
            case ELOOP: refused += 1
            default: break
            }
        }
        isOver.set()
        while !swapper.isFinished { sched_yield() }
        #expect(try scratch.contents("outside") == ["file"])
        #expect(written >= 20 && refused >= 20)
    }

    @Test func trustedPathMayLeadThroughLinks() throws {
        try scratch.link("here", to: ".")
        let folder = try Folder(trusted: scratch.path + "/inside/here")
        #expect(try folder.status().st_ino == scratch.inside(.kernel).status().st_ino)
    }

    @Test func folderThatOthersMayUseIsNotAcceptedAsPrivate() throws {
        let folder = try scratch.inside(.supported)
        _ = try folder.makePrivateFolder("own")
        #expect(try folder.makePrivateFolder("own").status().st_mode & 0o777 == 0o700)
        #expect(chmod(scratch.path + "/inside/own", 0o750) == 0)
        #expect(failure { () throws(SystemFailure) in _ = try folder.makePrivateFolder("own") } == EPERM)
        try scratch.link("linked", to: scratch.path + "/outside")
        #expect(failure { () throws(SystemFailure) in _ = try folder.makePrivateFolder("linked") } == ELOOP)
        guard geteuid() == 0 else { return }
        #expect(chmod(scratch.path + "/inside/own", 0o700) == 0 && chown(scratch.path + "/inside/own", 12345, 0) == 0)
        #expect(failure { () throws(SystemFailure) in _ = try folder.makePrivateFolder("own") } == EPERM)
    }

    @Test(arguments: [
        ("/a", "/a", ""), ("/a/", "/a", ""), ("/a", "/a/b/c", "b/c"), ("/a/", "/a//b", "b"), ("/", "/b", "b"),
        ("/a", "/ab", nil), ("/a/b", "/a", nil), ("/e\u{301}", "/\u{e9}/x", nil), ("/a", "/a/\u{301}b", "\u{301}b"),
    ]) func partBelowAFolder(folder: String, path: String, part: String?) {
        #expect(
            Folder.part(of: path, below: folder)?.utf8.elementsEqual((part ?? "none").utf8)
                == (part == nil ? nil : true))
    }
}
