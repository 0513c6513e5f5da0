import DarkroomConcurrency
import DarkroomFiles
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// The temporary folders of runs, and the removal of the folders of killed runs.
@Suite(.timeLimit(.minutes(5))) struct SocketFolderTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func make(_ name: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }

    @Test func onlyFoldersOfKilledRunsAreRemoved() throws {
        let held = try #require(SocketFolder.make(in: scratch.path))
        let released = try #require(SocketFolder.make(in: scratch.path)).path
        for name in ["darkroom-run-1-abcdef", "darkroom-run-1-thumbs/thumbnails", "darkroom-run-1-socket"] {
            try make(name)
        }
        _ = try scratch.write("darkroom-run-1-thumbs/thumbnails/a.jpg", "a")
        _ = try scratch.write("darkroom-run-1-socket/redis.sock", "")
        // All of these stay.
        try make("victim")
        _ = try scratch.write("victim/precious", "precious")
        symlink(scratch.path("victim"), scratch.path("darkroom-run-1-linked"))
        try make("darkroom-run-1-public", mode: 0o755)
        for name in ["darkroom-run-abcdef", "darkroom-run-1-abc", "darkroom-run-x-abcdef", "my-darkroom-run-1-abcdef"] {
            try make(name)
        }
        _ = try scratch.write("darkroom-run-1-isfile", "")
        if geteuid() == 0 {
            try make("darkroom-run-1-others")
            chown(scratch.path("darkroom-run-1-others"), 12345, 12345)
        }
        // A link in an abandoned folder is removed, and not its target.
        try make("darkroom-run-1-inside")
        symlink(scratch.path("victim"), scratch.path("darkroom-run-1-inside/link"))

        SocketFolder.removeAbandoned(in: [scratch.path, scratch.path("missing")])
        for name in [
            "darkroom-run-1-abcdef", "darkroom-run-1-thumbs", "darkroom-run-1-socket", "darkroom-run-1-inside",
        ] {
            #expect(!scratch.exists(name), "\(name)")
        }
        #expect(!FileManager.default.fileExists(atPath: released))
        #expect(FileManager.default.fileExists(atPath: held.path))
        for name in [
            "victim/precious", "darkroom-run-1-linked", "darkroom-run-1-public", "darkroom-run-abcdef",
            "darkroom-run-1-abc",
            "darkroom-run-x-abcdef", "my-darkroom-run-1-abcdef", "darkroom-run-1-isfile",
        ] { #expect(scratch.exists(name), "\(name)") }
        #expect(geteuid() != 0 || scratch.exists("darkroom-run-1-others"))
        withExtendedLifetime(held) {}
    }

    /// Threads create folders while another thread removes abandoned folders all the time.
    @Test func newFoldersAreNotRemoved() throws {
        let path = scratch.path
        let isDone = DispatchSemaphore(value: 0)
        let hasEnded = DispatchSemaphore(value: 0)
        let made = Locked(0)
        let searches = Searches()
        Thread.detachNewThread {
            while isDone.wait(timeout: .now()) == .timedOut {
                SocketFolder.removeAbandoned(in: [path])
                searches.noteEnd()
            }
            hasEnded.signal()
        }
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<100 {
                // On a busy machine each attempt may lose its folder before it has locked it.
                guard let folder = SocketFolder.make(in: path) else { continue }
                made.withLock { $0 += 1 }
                searches.waitForWholeSearch()
                #expect(FileManager.default.fileExists(atPath: folder.path))
                withExtendedLifetime(folder) {}
            }
        }
        isDone.signal()
        hasEnded.wait()
        #expect(made.withLock { $0 } > 0)
    }

    /// Counts the searches for abandoned folders.
    private final class Searches: @unchecked Sendable {  // `ended` is used only while `condition` is locked
        private let condition = NSCondition()
        private var ended = 0

        func noteEnd() {
            condition.lock()
            ended += 1
            condition.unlock()
            condition.broadcast()
        }

        /// Waits for the end of a search that began after this call: the second one that ends, because the first one may
        /// have begun before.
        func waitForWholeSearch() {
            condition.lock()
            defer { condition.unlock() }
            let last = ended + 2
            while ended < last { condition.wait() }
        }
    }

    @Test func nextRunRemovesTheFolderOfAKilledRun() throws {
        for name in ["run", "tmp"] { try make(name) }
        let environment = ["XDG_RUNTIME_DIR": scratch.path("run"), "TMPDIR": scratch.path("tmp")]
        let server = try HostileServer(["/a.jpg": .held(.answer(body: RunCommandTests.photo))])
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("/a.jpg") + "\n")
        func start(_ out: String) throws -> Program {
            try Program(
                ["run", list, "-o", scratch.path(out), "--allow-private", "--serve"], environment: environment)
        }
        func folders() throws -> Set<String> {
            Set(try (scratch.contents("run") + scratch.contents("tmp")).filter { $0.hasPrefix("darkroom-run-") })
        }
        let killed = try start("killed")
        try killed.waitFor("the photos are shown at ")
        let first = try folders()
        #expect(first.count == 2)
        killed.send(SIGKILL)
        #expect(try killed.outcome().status == 128 + SIGKILL)
        #expect(try folders() == first)

        let next = try start("next")
        try next.waitFor("the photos are shown at ")
        let second = try folders()
        #expect(second.count == 2 && second.isDisjoint(with: first), "\(second)")
        // A third run does not disturb the second one.
        let third = try start("third")
        try third.waitFor("the photos are shown at ")
        #expect(try folders().isSuperset(of: second) && folders().count == 4)
        server.release()
        for program in [next, third] { #expect(try program.outcome().status == 0) }
        #expect(try folders() == [])
    }
}

/// The warning of a run as root.
@Suite struct RootWarningTests {
    private let scratch: ScratchFolder
    private let folder = "darkroom-\(geteuid())"

    init() throws { scratch = try ScratchFolder() }

    private func isDue(_ now: Int) -> Bool { RootWarning.isDue(in: scratch.path, now: now) }

    @Test func isDueOnceAnHour() throws {
        let now = 1_700_000_000
        #expect([now, now + 1, now + 3599, now + 3600, now + 3601].map(isDue) == [true, false, false, true, false])
        #expect(isDue(now - 100) && !isDue(now - 99))  // the clock was set back
        let mode = try #require(try Folder(trusted: scratch.path).status(of: folder)).st_mode
        #expect(mode & 0o777 == 0o700)
    }

    @Test func plantedFilesAreNotUsed() throws {
        let target = try scratch.write("target", "precious")
        func stays() throws {
            for _ in 0..<2 { #expect(isDue(1_700_000_000)) }
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
            #expect(try scratch.contents("victim") == [])
        }
        try FileManager.default.createDirectory(atPath: scratch.path("victim"), withIntermediateDirectories: true)
        chmod(scratch.path("victim"), 0o700)
        // A link in place of the folder.
        symlink(scratch.path("victim"), scratch.path(folder))
        try stays()
        unlink(scratch.path(folder))
        // A folder that others may use.
        mkdir(scratch.path(folder), 0o700)
        chmod(scratch.path(folder), 0o777)
        try stays()
        // A link and a pipe in place of the stamp.
        chmod(scratch.path(folder), 0o700)
        symlink(target, scratch.path("\(folder)/root-warning"))
        try stays()
        unlink(scratch.path("\(folder)/root-warning"))
        mkfifo(scratch.path("\(folder)/root-warning"), 0o600)
        try stays()
        #expect(RootWarning.isDue(in: scratch.path("missing")))
    }

    @Test func runWarnsOnce() throws {
        let list = try scratch.write("list.csv", "name,url\na,NO URL\n")
        let warnings = try (0..<2).map { number in
            let outcome = try Program(
                ["run", list, "-o", scratch.path("out\(number)")], environment: ["TMPDIR": scratch.path]
            ).outcome()
            return outcome.standardError.contains("warning: this run works as root: ")
        }
        #expect(warnings == [geteuid() == 0, false])
    }
}
