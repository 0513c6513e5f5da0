import DarkroomConcurrency
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

@Suite(.serialized, .timeLimit(.minutes(5))) struct FilterCommandTests {
    private static let large = [UInt8]((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    // MARK: - Input and output

    @Test func passesAnyBytesThrough() throws {
        let cat = try CommandFixture("cat")
        for bytes in [[0], Array("\n".utf8), Self.large, [UInt8](repeating: 255, count: 65_536)] {
            #expect(try cat.run(CommandFixture.photo(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        ("cat >all; cat all", true), ("yes | head -c 3000000; cat >/dev/null", false), ("exec <&-; echo 1", false),
        ("echo 1", false), ("head -c 5 >/dev/null; yes | head -c 3000000", false),
        ("printf x; exec >&- 2>&-; cat >all; sleep 0.1", false), ("echo 1; yes | head -c 3000000 >&2", false),
    ])
    func readsAndWritesInAnyOrder(_ command: String, isCopy: Bool) throws {
        let result = try CommandFixture(command).run(CommandFixture.photo(Self.large))
        #expect(isCopy ? result == Self.large : !result.isEmpty)
    }

    @Test func hasOnlyTheDocumentedEnvironment() throws {
        setenv("DARKROOM_REDIS_PASSWORD", "secret", 1)
        setenv("LC_NUMERIC", "C", 1)
        defer { unsetenv("DARKROOM_REDIS_PASSWORD") }
        let lines = try CommandFixture("env").text().split(separator: "\n").map(String.init).sorted()
        let names = lines.map { String($0.prefix { $0 != "=" }) }
        let own = ["ARGUMENTS", "BATCH", "CUSTOM_FILTER", "INDEX", "NAME", "RENDITION", "URL"].map { "DARKROOM_\($0)" }
        #expect(names.filter { $0.hasPrefix("DARKROOM") } == own)
        #expect(names.contains("PATH") && names.contains("TMPDIR") && names.contains("LC_NUMERIC"))
        #expect(
            Set(names).isSubset(
                of: own + ["PATH", "HOME", "LANG", "TZ", "TMPDIR"] + names.filter { $0.hasPrefix("LC_") }))
        #expect(lines.contains("DARKROOM_INDEX=7") && lines.contains("DARKROOM_URL=http://h/a.jpg?x=1"))
        #expect(lines.contains("DARKROOM_BATCH=batch-1") && lines.contains("DARKROOM_NAME=a.jpg"))
    }

    @Test func supervisorHasNoSecretsInItsEnvironment() throws {
        setenv("DARKROOM_REDIS_PASSWORD", "secret", 1)
        defer { unsetenv("DARKROOM_REDIS_PASSWORD") }
        let text = try CommandFixture("sh -c 'tr \"\\0\" \"\\n\" </proc/$PPID/environ; echo end'").text()
        #expect(text.hasSuffix("end\n") && !text.contains("secret"))
    }

    @Test func hasOnlyTheStandardFiles() throws {
        let other = try ScratchFolder()
        let descriptor = open(other.path, O_RDONLY)  // without O_CLOEXEC
        defer { close(descriptor) }
        // 3 is the folder that ls reads.
        #expect(try CommandFixture("ls /proc/self/fd").text() == "0\n1\n2\n3\n")
    }

    @Test func hasDefaultSignalsAnOwnGroupAndTheNiceValueOfItsThread() throws {
        signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, SIG_DFL) }
        let texts = Locked<[String]>([])
        let thread = OwnedThread("nice") {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 7)
            for command in ["cat /proc/self/status", "echo $$; cut -d' ' -f1,5,6,19 /proc/$$/stat"] {
                let text = (try? CommandFixture(command).text()) ?? "failed"
                texts.withLock { $0.append(text) }
            }
        }
        thread.join()
        let status = texts.withLock { $0 }.first ?? ""
        #expect(status.contains("SigBlk:\t0000000000000000") && status.contains("SigIgn:\t0000000000000000"))
        let fields = (texts.withLock { $0 }.last ?? "").split { $0 == " " || $0 == "\n" }
        #expect(fields.count > 3 && pid_t(fields[3]) != getsid(0), "the session of the program")
        #expect(fields.count == 5 && Set(fields.prefix(3)).count == 1 && fields.last == "7")
    }

    @Test func runsInAnEmptyPrivateFolderThatIsRemoved() throws {
        let fixture = try CommandFixture(
            """
            [ "$PWD" = "$TMPDIR" ] && [ -z "$(ls -A)" ] && stat -c %a . && echo $PWD
            mkdir -p a/b closed/inner; touch a/f a/b/f closed/inner/f; ln -s / link; mkfifo pipe; chmod 0 closed/inner closed
            i=0; while [ $i -lt 300 ]; do mkdir dddddddddddddddddddd; cd dddddddddddddddddddd; i=$((i+1)); done
            chmod 500 $TMPDIR
            """)
        var folders: Set<String> = []
        for _ in 0..<3 {
            let lines = try fixture.text().split(separator: "\n").map(String.init)
            #expect(lines.first == "700" && lines.count == 2)
            folders.insert(lines.last ?? "/")
        }
        // A command that removes its folder gets a new one.
        let remover = try CommandFixture("cd /; rmdir $TMPDIR; echo $TMPDIR; ln -s /etc $TMPDIR")
        for _ in 0..<2 { folders.insert(try remover.text().trimmingCharacters(in: .newlines)) }
        #expect(folders.count == 3)
        fixture.operation.stop()
        remover.operation.stop()
        for folder in folders {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: folder)
            #expect(link == "/etc" || !FileManager.default.fileExists(atPath: folder))
            unlink(folder)
        }
    }

    // MARK: - Failures

    @Test(arguments: [
        ("true", "printed nothing to standard output"), ("cat >/dev/null", "printed nothing"),
        ("false", "ended with status 1"), ("echo sorry >&2; echo x; exit 3", "ended with status 3: sorry"),
        ("kill -SEGV $$", "ended by signal 11 (Segmentation fault)"),
        ("yes | head -c 2000000", "printed more than 1000000"),
        ("yes", "printed more than 1000000 bytes"), ("yes >&2", "printed more than 64 MiB to standard error"),
        ("echo bad; setsid yes >/dev/null & exit 4", "ended with status 4"), ("no-such-program | cat", "not found"),
    ])
    func failsWithAReason(_ command: String, _ reason: String) throws {
        let failure = try CommandFixture(command) { $0.resultBytes = 1_000_000 }.failure()
        #expect(failure.reason == .filterFailed && failure.detail.contains(reason), "\(failure)")
    }

    @Test(arguments: [
        "sleep 1000", "kill -STOP $$", "exec >&-; sleep 1000", "exec >&- 2>&- <&-; sleep 1000",
        "trap '' TERM; sleep 1000",
        "setsid sleep 1000 & wait",
    ])
    func endsACommandThatNeverEnds(_ command: String) throws {
        let failure = try CommandFixture(command) { $0.time = .milliseconds(300) }.failure()
        #expect(failure.reason == .filterTimeout && failure.detail.contains("longer than 0.3 seconds"), "\(failure)")
    }

    @Test(arguments: [
        "while :; do :; done", "(while :; do :; done) & (while :; do :; done) & wait",
        "trap '' XCPU; while :; do :; done",
    ])
    func limitsTheProcessorTime(_ command: String) throws {
        let failure = try CommandFixture(command) { $0.processorTime = .seconds(1) }.failure()
        #expect(failure.reason == .filterTimeout && failure.detail.contains("processor time"), "\(failure)")
    }

    @Test func limitsTheMemory() throws {
        let command = "/usr/bin/python3 -c 'print(len(bytearray(200 << 20)))'"
        #expect(try CommandFixture(command).text() == "209715200\n")
        let failure = try CommandFixture(command) { $0.memory = 150 << 20 }.failure()
        #expect(failure.reason == .filterFailed && failure.detail.contains("MemoryError"), "\(failure)")
    }

    @Test func keepsTheEndOfTheStandardError() throws {
        let failure = try CommandFixture("yes é | head -c 300000 >&2; printf 'last words\\n\\n' >&2; exit 1").failure()
        #expect(failure.detail.contains(": last words\né\né\n") && failure.detail.hasSuffix("\né"))
        #expect((900...1100).contains(failure.detail.unicodeScalars.count))
    }

    /// Tables and Redis contain only the beginning of a detail.
    @Test(arguments: [
        (
            #"echo 'WARNING: The convert command is deprecated in IMv7, use "magick"' >&2; echo 'convert: no images' >&2; exit 1"#,
            #"ended with status 1: convert: no images\#nWARNING: The convert command is deprecated in IMv7, use "magick""#
        ),
        (
            "printf 'Traceback:\\n  line 3\\nValueError: bad\\n  ^\\n' >&2; exit 2",
            "status 2: ValueError: bad\nTraceback:\nline 3\n^"
        ),
        ("no-such-program - 'a b'", "status 127 (a program was not found): /bin/sh: 1: no-such-program: not found"),
        (
            "no-such-program; echo 'cannot go on' >&2; exit 5",
            "ended with status 5: /bin/sh: 1: no-such-program: not found\ncannot go on"
        ),
        ("echo 'exec format' >&2; exit 126", "ended with status 126 (a program cannot be executed): exec format"),
    ])
    func reasonOfTheFailureIsFirst(_ command: String, _ detail: String) throws {
        let failure = try CommandFixture(command).failure()
        #expect(failure.detail.hasSuffix(detail), "\(failure.detail)")
    }

    @Test func refusesTextsThatAreNoEnvironmentVariables() throws {
        let fixture = try CommandFixture("cat")
        #expect(try fixture.failure(CommandFixture.photo(name: "a\0b")).detail.contains("contains a NUL"))
        #expect(
            try fixture.failure(CommandFixture.photo(arguments: String(repeating: "x", count: 1 << 20))).detail
                .contains("the arguments of the photo is too long"))
        let longest = String(repeating: "x", count: (128 << 10) - "DARKROOM_NAME=\0".utf8.count)
        #expect(try fixture.run(CommandFixture.photo(name: longest)) == Array("photo".utf8))
    }

    @Test func saysWhyAProgramCannotBeExecuted() throws {
        let folder = try ScratchFolder()
        let path = try folder.write("program", "#!/no/such/interpreter\n")
        chmod(path, 0o755)
        let fixture = try CommandFixture(path)
        #expect(try fixture.failure().detail.contains("could not be executed: \(path): No such file or directory"))
    }

    // MARK: - Processes

    @Test(arguments: [
        "sleep 1000 &", "setsid sleep 1000 &", "(setsid sh -c 'sleep 1000 & sleep 1000' &)",
        "setsid sh -c 'sleep 1000 & setsid sleep 1000 & kill -STOP $$' &", "(trap '' TERM HUP; sleep 1000) &",
        "for i in 1 2 3 4 5 6 7 8 9; do setsid sleep 1000 & done",
    ])
    func leavesNoProcesses(_ children: String) throws {
        let fixture = try CommandFixture("\(children)\necho ok")
        for _ in 0..<3 { #expect(try fixture.text() == "ok\n") }
        let failing = try CommandFixture("\(children)\nexit 5")
        #expect(try failing.failure().detail.contains("status 5"))
        let hanging = try CommandFixture("\(children)\nsleep 999") { $0.time = .milliseconds(200) }
        #expect(try hanging.failure().reason == .filterTimeout)
    }

    @Test func endsAForkBomb() throws {
        // Each process starts its successor in an own session, and ends.
        let script = """
            import os
            number = 0
            while True:
              if os.fork(): os._exit(0)
              os.setsid()
              number += 1
              if number == 100: open("many", "w")
            """
        let fixture = try CommandFixture(
            "/usr/bin/python3 -c '\(script)' & until [ -e many ]; do sleep 0.01; done; echo ok")
        #expect(try fixture.text() == "ok\n")
    }

    @Test(arguments: FilterCommand.Style.allCases)
    func cancelEndsTheCommandAndItsChildrenWithin100Milliseconds(_ style: FilterCommand.Style) throws {
        let fixture = try CommandFixture("setsid sleep 1000 & sleep 1001 & sleep 1002", style: style)
        var times: [Duration] = []
        // The tests of other suites may use all cores for a moment.
        while times.count < 3 || times.min() ?? .zero >= .milliseconds(100) && times.count < 20 {
            let isCancelled = Locked(false)
            let cancelled = Locked(ContinuousClock.now)
            let thread = OwnedThread("cancel") {
                fixture.waitForProcess("sleep")
                cancelled.withLock { $0 = .now }
                isCancelled.withLock { $0 = true }
            }
            let failure = try fixture.failure { isCancelled.withLock { $0 } }
            thread.join()
            times.append(.now - cancelled.withLock { $0 })
            #expect(failure.reason == nil && fixture.left() == [])
        }
        #expect(times.min() ?? .seconds(1) < .milliseconds(100), "\(times)")
    }

    @Test(arguments: [("KILL", "its supervisor process has ended"), ("STOP", "longer than")])
    func aCommandCanHarmOnlyItsOwnSupervisor(_ signal: String, _ reason: String) throws {
        let command = "[ $DARKROOM_NAME = good.jpg ] && exec cat; kill -\(signal) $PPID; sleep 1000"
        let fixture = try CommandFixture(command, killsSupervisor: true) { $0.time = .seconds(1) }
        let photo = CommandFixture.photo(name: "good.jpg")
        #expect(try fixture.run(photo) == photo.bytes)
        #expect(try fixture.failure().detail.contains(reason))
        #expect(try fixture.run(photo) == photo.bytes)
    }

    /// The kernel may kill a supervisor because of a lack of memory. The photo then gets another attempt.
    @Test func photoOfAKilledSupervisorGetsAnotherAttempt() throws {
        let scratch = try ScratchFolder()
        let kill = "mkdir '\(scratch.path("first"))' 2>/dev/null && kill -KILL $PPID && sleep 1000"
        let fixture = try CommandFixture("\(kill); exec cat", killsSupervisor: true)
        let photo = CommandFixture.photo()
        #expect(try fixture.run(photo) == photo.bytes)
    }

    @Test func waitingForASupervisorThatDoesNotAnswerCanBeCancelled() throws {
        let fixture = try CommandFixture("echo $PPID")
        let text = try fixture.text().trimmingCharacters(in: .newlines)
        let supervisor = try #require(pid_t(text))
        #expect(kill(supervisor, SIGSTOP) == 0)
        let calls = Locked(0)
        let began = ContinuousClock.now
        let failure = try fixture.failure {
            calls.withLock { calls in
                calls += 1
                return calls > 3
            }
        }
        #expect(failure.reason == nil && .now - began < .seconds(30))
        #expect(!RunningProcess.all.contains { $0.id == supervisor })
    }

    /// A signal that interrupts the wait for the end of a supervisor does not shorten the wait.
    @Test func supervisorHasTimeToEndDespiteSignals() throws {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        var earlier = sigaction()
        #expect(sigaction(SIGUSR1, &action, &earlier) == 0)
        defer { sigaction(SIGUSR1, &earlier, nil) }
        let fixture = try CommandFixture("pwd >&2; seq 2000 | xargs touch; sleep 1000") { $0.time = .seconds(2) }
        let failure = Locked<PhotoProduct.Failure?>(nil)
        let thread = Locked<pthread_t?>(nil)
        let (hasEnded, mayEnd) = (Latch(), DispatchSemaphore(value: 0))
        let runner = OwnedThread("runs") {
            // Threads of Swift tasks block signals.
            var signals = sigset_t()
            sigaddset(&signals, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            thread.withLock { $0 = pthread_self() }
            let found = try? fixture.failure()  // nil if the command succeeds; then the detail below is missing
            failure.withLock { $0 = found }
            hasEnded.set()
            mayEnd.wait()  // the thread must exist while signals are sent to it
        }
        while !hasEnded.isSet {
            if let thread = thread.withLock({ $0 }) { pthread_kill(thread, SIGUSR1) }
            usleep(1000)  // not a wait for anything: the interval at which signals interrupt the calls of the thread
        }
        mayEnd.signal()
        runner.join()
        let detail = failure.withLock { $0?.detail } ?? ""
        let folder = try #require(detail.split(separator: " ").last.map(String.init))
        #expect(detail.contains("longer than") && folder.contains("/darkroom-command-"), "\(detail)")
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    /// The thread of the command has its own open files, and no room for more until the photo waits.
    @Test(arguments: FilterCommand.Style.allCases)
    func lackOfFilesDelaysThePhoto(_ style: FilterCommand.Style) throws {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let unshare = unsafeBitCast(try #require(dlsym(nil, "unshare")), to: Unshare.self)
        let result = Locked<[UInt8]?>(nil)
        let thread = OwnedThread("files") {
            // A closure of a thread cannot throw. After any error, there is no result, and the test fails.
            guard unshare(0x400) == 0 else { return }  // CLONE_FILES
            let fixture = try? CommandFixture(
                style == .process
                    ? "cat" : "read line; head -c 5 >/dev/null; printf '{\"photo\":1,\"bytes\":5}\\nphoto'; sleep 1000",
                style: style)
            // The limit of the process would affect the other tests.
            let taken = Locked<[Int32]>([])
            let bytes = try? fixture?.operation.run(CommandFixture.photo()) {
                let isFirst = taken.withLock { taken in
                    guard taken.isEmpty else { return false }
                    while case let file = dup(0), file >= 0 { taken.append(file) }
                    return true
                }
                if !isFirst { for file in taken.exchange([-1]) where file >= 0 { close(file) } }
                return false
            }
            fixture?.operation.stop()
            result.withLock { $0 = bytes }
        }
        thread.join()
        #expect(result.withLock { $0 } == Array("photo".utf8))
    }

    @Test(.enabled(if: NetworkNamespace.isAvailable, "the test needs root and the ip program"))
    func kernelMustListTheChildrenOfAProcess() async throws {
        let empty = try ScratchFolder()
        let problem = try await NetworkNamespace.run {
            guard NetworkNamespace.replace("/proc/\(getpid())/task", by: empty.url) else { return "no mount" }
            do throws(InvalidCommand) {
                _ = try FilterCommand("own", command: "cat")
                return "accepted"
            } catch {
                return error.description
            }
        }
        #expect(problem.contains("CONFIG_PROC_CHILDREN"), "\(problem)")
    }

    @Test func otherChildrenOfTheProgramAreNotTouched() throws {
        let log = try ScratchFolder()
        let other = try BoundProcess(["sleep", "1000"], log: log.path("log"))
        _ = try CommandFixture("setsid sleep 1000 & echo ok").run()
        let hanging = try CommandFixture("sleep 1000") { $0.time = .milliseconds(100) }
        #expect(try hanging.failure().reason == .filterTimeout)
        #expect(other.exitStatus == nil && kill(other.identifier, 0) == 0)
        other.stop()
    }

    @Test func leavesNoDescriptorsAndNoFolders() throws {
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        func folders() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
                .filter { $0.hasPrefix("darkroom-command-") }
        }
        let before = (try descriptors(), try folders())
        for command in ["cat", "true", "kill -KILL $$", "yes", "touch f; exit 1"] {
            let fixture = try CommandFixture(command) { $0.resultBytes = 1000 }
            for _ in 0..<3 { _ = try? fixture.run() }
            fixture.operation.stop()
        }
        #expect(try descriptors() == before.0)
        #expect(try folders() == before.1)
    }

    @Test func runsOnManyThreadsAtATime() throws {
        let fixture = try CommandFixture("cat")
        let operation = fixture.operation
        let wrong = Locked(0)
        let threads = (0..<8).map { number in
            OwnedThread("runs") {
                for round in 0..<20 {
                    let bytes = Array("\(number) \(round)".utf8)
                    let result = try? operation.run(CommandFixture.photo(bytes)) { false }
                    if result != bytes { wrong.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(wrong.withLock { $0 } == 0 && fixture.left() == [])
    }
}
