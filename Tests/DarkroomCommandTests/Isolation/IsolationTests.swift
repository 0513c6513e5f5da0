import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomTestSupport
import DarkroomWorker
import Foundation
import Testing

@testable import DarkroomCommand

/// Photos that end or overload the process that develops them. With helper processes, the worker continues.
@Suite(.redisServer, .serialized)
struct IsolationTests {
    /// Submits a batch with the custom filter `x:hostile` and one photo for each name.
    private func submit(
        _ names: [String], to queue: Queue, photo: [UInt8] = Array("bytes".utf8),
        _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        try Data(photo).write(to: URL(fileURLWithPath: queue.folder + "/photo.txt"))
        let list = PhotoRecords(names.map { (name: $0, url: "file://\(queue.folder)/photo.txt") })
        var options = BatchOptions()
        options.output = queue.folder + "/out"
        options.filters = [.custom("hostile")]
        options.lease = .seconds(6)
        change(&options)
        let coordinator = Coordinator(store: queue.store) { _ in }
        return try coordinator.submit(list, options: options).id
    }

    private func wait(for id: BatchID, in queue: Queue) throws -> [String: String] {
        _ = try queue.run("wait", "\(id)", "--timeout", "50s")
        let photos = try #require(try queue.run("photos", "\(id)", "--json").json() as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: photos.map { photo in
                (photo["name"] as? String ?? "", photo["reason"] as? String ?? photo["state"] as? String ?? "")
            })
    }

    @Test func onlyPhotosThatEndOrOverloadTheirProcessFail() throws {
        let queue = try Queue()
        let names = [
            "fine 1", "crash 1", "fine 2", "trap", "exit", "fine 3", "loop", "memory", "files", "about", "fine 4",
            "break 1", "fine 5", "break 2", "fine 6",
        ]
        let id = try submit(names, to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        let ends = try wait(for: id, in: queue)
        // A photo that crashed because of an earlier photo is tried again in a separate process.
        for name in names where name.hasPrefix("fine") || name.hasPrefix("break") || name == "about" {
            #expect(ends[name] == "filtered", "\(name)")
        }
        for name in ["crash 1", "trap", "exit"] { #expect(ends[name] == "crashed", "\(name)") }
        #expect(ends["loop"] == "filter-timeout")
        for name in ["memory", "files"] { #expect(ends[name] == "filter-failed", "\(name)") }
        #expect(!worker.process.wait(within: .zero), "the worker has ended")

        let failures = try queue.run("photos", "\(id)", "--state", "failed").standardOutput
        #expect(failures.contains("signal 11") && failures.contains("more processor time than a photo"))
        let memory = try #require(failures.firstMatch(of: /(\d+) MiB were given/).flatMap { Int($0.1) })
        #expect((3000...5300).contains(memory))
        let files = try #require(failures.firstMatch(of: /(\d+) files were given/).flatMap { Int($0.1) })
        #expect((40...61).contains(files))
        // A helper has none of the open files and environment variables of the worker, and cannot write files.
        let about = try #require(FileManager.default.contents(atPath: queue.folder + "/out/000009-about.txt"))
        let lines = String(decoding: about, as: UTF8.self).split(separator: "\n")
        // libvips sets VIPSHOME itself.
        let variables = lines.first?.split(separator: " ").filter { $0 != "VIPSHOME" }
        #expect(variables == ["DARKROOM_PHOTO_HELPER", "SWIFT_BACKTRACE"])
        #expect(lines.dropFirst() == ["0 1 2", "0"])
    }

    @Test(.enabled(if: ConfinementFacts.found().filtersCalls, "the kernel has no seccomp"))
    func photoThatTakesOverItsHelperIsConfined() throws {
        let queue = try Queue()
        let attacks = [
            "exec", "fork", "clone3", "tcp", "unix", "read", "library", "look", "remove", "environ", "write", "peek",
            "trace", "kill", "tgkill", "owner", "limits", "namespace", "take-memory", "take-time",
        ]
        let id = try submit(attacks + ["fine"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        #expect(try wait(for: id, in: queue)["fine"] == "filtered")
        let failures = try queue.run("photos", "\(id)", "--state", "failed").standardOutput
        for attack in attacks {
            #expect(failures.contains("\(attack): Operation not permitted"), "\(attack) in \(failures)")
        }
        #expect(!worker.process.wait(within: .zero), "the worker has ended")
    }

    /// Checks each layer behind the system call filter separately, because the filter would hide the failure of a
    /// layer.
    @Test func helperHasEveryLayerOfTheKernel() throws {
        let facts = ConfinementFacts.found()
        let queue = try Queue()
        let id = try submit(["loop"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        var helper: Int32 = 0
        func lines(_ file: String) -> [String] {
            let text = FileManager.default.contents(atPath: "/proc/\(helper)/\(file)") ?? Data()
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map {
                $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
        }
        // A helper installs the filter last. If the system allows no namespaces, the first helper process ends at once.
        try waitUntil("a helper of batch \(id) has installed the filter") {
            helper = try HostileWorkerProcess.waitForChildren(of: worker.process.identifier)[0]
            return lines("status").contains("Seccomp: \(facts.filtersCalls ? 2 : 0)")
        }
        #expect(lines("status").contains("NoNewPrivs: 1"))
        #expect(lines("status").contains("Seccomp: 2") == facts.filtersCalls)
        let limits = lines("limits")
        #expect(limits.contains("Max file size 0 0 bytes") && limits.contains("Max core file size 0 0 bytes"))
        #expect(limits.contains("Max open files 64 64 files"))
        guard facts.hasNamespaces else { return }
        #expect(limits.contains("Max processes 4096 4096 processes"))
        for kind in ["net", "user"] {
            let ofTest = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/\(kind)")
            let ofHelper = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(helper)/ns/\(kind)")
            #expect(ofHelper != ofTest)
        }
    }

    @Test(.enabled(if: ConfinementFacts.found().landlock > 0, "the kernel has no Landlock"))
    func landlockAloneDeniesFiles() throws {
        let scratch = try ScratchFolder()
        let own = try scratch.write("own", "text")
        let new = scratch.path("new")
        let results = ConfinedThread.run {
            let files = [(own, O_RDONLY), (own, O_WRONLY), (new, O_WRONLY | O_CREAT), ("/etc/passwd", O_RDONLY)]
            return files.map { path, flags in
                open(path, flags | O_CLOEXEC, 0o600) >= 0 ? 0 : errno
            } + [unlink(own) == 0 ? 0 : errno, open("/usr/bin/env", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno]
        }
        #expect(results == [EACCES, EACCES, EACCES, EACCES, EACCES, 0], "only libraries can be read")
        #expect(scratch.exists("own") && !scratch.exists("new"))
    }

    @Test func photoThatTakesOverItsHelperGetsNoMoreTimeOrMemory() throws {
        let queue = try Queue()
        let id = try submit(["spin"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        var limits = ""
        try waitUntil("a helper of batch \(id) is limited: \(limits)") {
            let helper = try HostileWorkerProcess.waitForChildren(of: worker.process.identifier)[0]
            // If the system allows no namespaces, the first helper process ends at once.
            limits = (try? String(contentsOfFile: "/proc/\(helper)/limits", encoding: .utf8)) ?? ""
            return limits.contains(#/Max cpu time +\d/#)
        }
        #expect(limits.contains(#/Max address space +\d+ +\d+ +bytes/#), "\(limits)")
        // A photo timeout of 1 s allows the largest photo 5 s. With the margins, a helper gets 2 * (5 + 2) + 10 = 24 s.
        #expect(limits.contains(#/Max cpu time +24 +24 +seconds/#), "\(limits)")
        #expect(try wait(for: id, in: queue)["spin"] == "filter-timeout")
        let failures = try queue.run("photos", "\(id)", "--state", "failed").standardOutput
        #expect(failures.contains("more processor time than a photo"), "\(failures)")
    }

    @Test func invalidRepliesEndTheHelper() throws {
        let queue = try Queue()
        let bad = ["answer-much", "answer-header", "answer-sizes"]
        let id = try submit(bad + ["answer-detail", "fine"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        let ends = try wait(for: id, in: queue)
        for name in bad { #expect(ends[name] == "crashed", "\(name)") }
        #expect(ends["answer-detail"] == "damaged" && ends["fine"] == "filtered")
        let manifest = try Program.run("manifest", queue.folder + "/out", "--json").standardOutput
        #expect(manifest.contains("its answer was invalid"))
        let detail = try #require(manifest.firstMatch(of: /x{100,}/)?.0)
        #expect(detail.count == 1000)
    }

    @Test(.enabled(if: ConfinementFacts.found().filtersCalls, "the kernel has no seccomp"))
    func helperThatCannotBeConfinedGetsNoPhoto() throws {
        let queue = try Queue()
        let id = try submit(["fine"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true, filtered: false)
        defer { worker.process.stop() }
        #expect(try wait(for: id, in: queue)["fine"] == "other")
        let failures = try queue.run("photos", "\(id)", "--state", "failed").standardOutput
        #expect(
            failures.contains(
                "no helper process starts: the kernel has seccomp and refuses to confine its system calls"),
            "\(failures)")
        #expect(failures.contains("Permission denied"), "\(failures)")
    }

    /// A helper has its own user namespace. The user owns the namespace and can read the helper, which has no secrets.
    @Test func memoryAndEnvironmentOfAWorkerAreHidden() throws {
        let queue = try Queue()
        _ = try submit(["loop"], to: queue)
        let worker = try HostileWorkerProcess(queue, isolated: true, privileged: false)
        defer { worker.process.stop() }
        _ = try HostileWorkerProcess.waitForChildren(of: worker.process.identifier)
        #expect(try !HostileWorkerProcess.canBeRead(worker.process.identifier))
        let other = try BoundProcess(HostileWorkerProcess.withoutPrivileges + ["sleep", "60"], log: "/dev/null")
        defer { other.stop() }
        // The process can be read as soon as `setpriv` has dropped its privileges: the reader has none either.
        try waitUntil("the test can read other processes") { try HostileWorkerProcess.canBeRead(other.identifier) }
    }

    @Test func operationDecodesAndEncodesPixels() throws {
        let (queue, scratch) = (try Queue(), try ScratchFolder())
        let id = try submit(["pixels", "fine"], to: queue, photo: RunCommandTests.photo)
        let worker = try HostileWorkerProcess(queue, isolated: true)
        defer { worker.process.stop() }
        #expect(try wait(for: id, in: queue) == ["pixels": "filtered", "fine": "filtered"])
        let copy = scratch.path("copy.jpg")
        let made = try Program.run("develop", "\(queue.folder)/out/000000-pixels.png", copy, "--json").json()
        #expect((made as? [String: Any])?["width"] as? Int == 640)
    }

    /// With renditions, the photo that crashes its process has no file, and all others have both.
    @Test(arguments: [[], ["small", "own"]]) func photoFailsAfterItHasCrashedTwoWorkers(renditions: [String]) throws {
        let queue = try Queue()
        let names = (0..<9).map { "fine \($0)" } + ["crash"]
        let id = try submit(names, to: queue, photo: RunCommandTests.photo) { options in
            options.renditions = renditions.map { name in
                PhotoRendition(name, filters: name == "own" ? [.custom("hostile")] : [PhotoFilter("resize=100")])
            }
        }
        var worker = try HostileWorkerProcess(queue, isolated: false)
        var ended = 0
        let deadline = ContinuousClock.now + .seconds(120)
        while try queue.store.facts(of: id)?.state != .finished, .now < deadline {
            guard worker.process.wait(within: .milliseconds(100)) else { continue }
            ended += 1
            worker = try HostileWorkerProcess(queue, isolated: false)
        }
        defer { worker.process.stop() }
        let ends = try wait(for: id, in: queue)
        #expect(ends["crash"] == "crashed")
        #expect(ends.values.filter { $0 == "filtered" }.count == 9)
        #expect(ended == 2)
        let folders = renditions.isEmpty ? [""] : renditions
        for folder in folders {
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(queue.folder)/out/\(folder)")
            #expect(files.filter { $0.contains("-fine") }.count == 9 && !files.contains { $0.contains("crash") })
        }
    }

    @Test func helpersEndWithTheirWorker() throws {
        for signal in [SIGTERM, SIGKILL] {
            let queue = try Queue()
            _ = try submit((0..<3).map { "loop \($0)" }, to: queue)
            let worker = try HostileWorkerProcess(queue, isolated: true)
            let helpers = try HostileWorkerProcess.waitForChildren(of: worker.process.identifier)
            kill(worker.process.identifier, signal)
            #expect(worker.process.wait(within: .seconds(20)))
            try HostileWorkerProcess.waitUntilGone(helpers)
        }
    }
}
