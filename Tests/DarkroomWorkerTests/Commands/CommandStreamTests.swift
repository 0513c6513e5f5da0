import DarkroomConcurrency
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

@Suite(.serialized, .timeLimit(.minutes(5))) struct CommandStreamTests {
    /// Returns the photos unchanged. The arguments of a photo request another behaviour.
    private static let program = """
        import json, os, signal, subprocess, sys, time
        read, write = sys.stdin.buffer, sys.stdout.buffer
        def answer(answer, result=b""):
            write.write(json.dumps({"photo": header["photo"]} | answer).encode() + b"\\n" + result)
            write.flush()
        for count, line in enumerate(read):
            header = json.loads(line)
            wish = header["arguments"]
            if wish == "early": answer({"bytes": 3}, b"yes")
            if wish == "deaf": time.sleep(1000)
            photo = read.read(header["bytes"])
            if wish == "header": photo = line
            if wish == "count": photo = str(count).encode()
            if wish == "children":
                subprocess.Popen(["sleep", "1000"], start_new_session=True)
            if wish == "error": answer({"error": "no sky \\u00e9"})
            elif wish == "rubbish": write.write(b"thank you\\n"); write.flush()
            elif wish == "control": write.write(b"\\x1b[2J\\n"); write.flush()
            elif wish == "long": write.write(b"x" * 70000); write.flush()
            elif wish == "endless": [write.write(b"x" * 70000) for _ in iter(int, 1)]
            elif wish == "empty": answer({"bytes": 0})
            elif wish == "huge": answer({"bytes": 1 << 60})
            elif wish == "negative": answer({"bytes": -1})
            elif wish == "neither": answer({})
            elif wish == "other": answer({"photo": 7, "bytes": 1}, b"1")
            elif wish == "nameless": answer({"photo": None, "bytes": 1}, b"1")
            elif wish == "twice":
                answer({"bytes": 1}, b"1")
                while not os.path.exists(sys.argv[1]): time.sleep(0.001)
                answer({"bytes": 1}, b"2")
            elif wish == "extra": answer({"bytes": 1}, b"12")
            elif wish == "later": 
                answer({"bytes": 1}, b"1")
                answer({"bytes": 1}, b"2")
                open(sys.argv[1], "w")
            elif wish == "part": answer({"bytes": 9}, b"12"); sys.stderr.write("too tired"); sys.exit(4)
            elif wish == "end": sys.exit(0)
            elif wish == "crash" or wish == "crashLater" and count > 0: os.kill(os.getpid(), signal.SIGSEGV)
            elif wish == "wait":
                while not os.path.exists(sys.argv[1]): time.sleep(0.001)
                answer({"bytes": 1}, b"1")
            elif wish == "hang": time.sleep(1000)
            elif wish == "stop": os.kill(os.getpid(), signal.SIGSTOP)
            elif wish == "compute":
                while True: pass
            elif wish == "noisy": sys.stderr.write("x" * 3000000); answer({"bytes": 1}, b"1")
            elif wish != "early": answer({"bytes": len(photo)}, photo)
        """

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write("program.py", Self.program)
    }

    private func fixture(_ change: (inout CommandLimits) -> Void = { _ in }) throws -> CommandFixture {
        try CommandFixture(
            "/usr/bin/python3 \(folder.path("program.py")) \(folder.path("printed"))", style: .stream, change)
    }

    private func photo(_ wish: String, _ bytes: [UInt8] = [1]) -> CommandPhoto {
        CommandFixture.photo(bytes, arguments: wish)
    }

    @Test func keepsTheProcess() throws {
        let fixture = try fixture()
        let large = [UInt8]((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) })
        for bytes in [[1], large, [10, 10, 0]] {
            #expect(try fixture.run(photo("", bytes)) == bytes)
        }
        #expect(try fixture.text(photo("count")) == "3")
        #expect(fixture.left().count == 1)
        fixture.operation.stop()
        #expect(fixture.left() == [])
    }

    @Test func sendsTheRecord() throws {
        let text = try fixture().text(CommandFixture.photo([1, 2], name: "a\n\"\0é", arguments: "header"))
        #expect(
            text == """
                {"photo":1,"bytes":2,"name":"a\\n\\"\\u0000é","url":"http://h/a.jpg?x=1","index":7,"batch":"batch-1",\
                "rendition":"","arguments":"header"}

                """)
    }

    @Test func firstPhotoOfAKilledSupervisorGetsAnotherAttempt() throws {
        let kill = "mkdir '\(folder.path("first"))' 2>/dev/null && kill -KILL $PPID && sleep 1000"
        let fixture = try CommandFixture(
            "\(kill); exec /usr/bin/python3 \(folder.path("program.py")) \(folder.path("printed"))", style: .stream)
        #expect(try fixture.run(photo("", [7])) == [7])
        fixture.operation.stop()
    }

    @Test func anErrorKeepsTheProcess() throws {
        let fixture = try fixture()
        #expect(try fixture.failure(photo("error")).detail == "custom filter \(fixture.operation.name): no sky é")
        #expect(try fixture.text(photo("count")) == "1")
    }

    @Test(arguments: [
        ("rubbish", "its answer is not a JSON object with \"bytes\" or \"error\": thank you"),
        ("control", "\\u{1b}[2J"), ("long", "the line of its answer is too long"), ("endless", "too long"),
        ("empty", "its answer has 0 bytes, allowed are 1 to 268435456"), ("huge", "allowed are 1 to"),
        ("other", "its answer is for photo 7, expected is 1"),
        ("nameless", "its answer has no number \"photo\", expected is 1"),
        ("negative", "its answer has -1 bytes"), ("neither", "neither \"bytes\" nor \"error\""),
        ("extra", "it printed more than its answer"), ("part", "ended with status 4: too tired"),
        ("end", "ended with status 0 before its answer"), ("crash", "ended by signal 11"),
    ])
    func replacesTheProcessAfterAnInvalidAnswer(_ wish: String, _ reason: String) throws {
        let fixture = try fixture()
        let failure = try fixture.failure(photo(wish))
        #expect(failure.reason == .filterFailed && failure.detail.contains(reason), "\(failure)")
        #expect(fixture.left() == [])
        #expect(try fixture.text(photo("count")) == "0")
    }

    @Test(arguments: ["hang", "stop", "deaf"]) func replacesAProcessThatNeverAnswers(_ wish: String) throws {
        let fixture = try fixture { $0.time = .milliseconds(500) }
        let failure = try fixture.failure(photo(wish, [UInt8](repeating: 1, count: 3_000_000)))
        #expect(failure.reason == .filterTimeout && fixture.left() == [], "\(failure)")
        #expect(try fixture.text(photo("count")) == "0")
    }

    @Test func programThatReadsToTheEndOfItsInputGetsAdvice() throws {
        let advice =
            "printed no line of JSON: a program that reads to the end of its input needs the style \"process\" of custom "
            + "filters"
        let fixture = try fixture { $0.time = .milliseconds(500) }
        #expect(try fixture.failure(photo("hang")).detail.contains(advice))
        // A process that has answered once knows the protocol.
        #expect(try fixture.text(photo("count")) == "0")
        #expect(try !fixture.failure(photo("hang")).detail.contains(advice))
    }

    @Test func limitsTheProcessorTimeOfEachPhoto() throws {
        let fixture = try fixture { $0.processorTime = .seconds(1) }
        let failure = try fixture.failure(photo("compute"))
        #expect(failure.reason == .filterTimeout && failure.detail.contains("processor time"), "\(failure)")
    }

    @Test func anAnswerBeforeTheEndOfThePhotoIsValid() throws {
        let fixture = try fixture()
        #expect(try fixture.text(photo("early", [UInt8](repeating: 1, count: 3_000_000))) == "yes")
        #expect(try fixture.text(photo("count")) == "1")
    }

    @Test func standardErrorNeverBlocksTheProcess() throws {
        let fixture = try fixture()
        for _ in 0..<3 { #expect(try fixture.text(photo("noisy")) == "1") }
    }

    @Test func aProcessThatPrintsBetweenPhotosIsReplaced() throws {
        let fixture = try fixture()
        // If both answers arrive at once, the photo fails, too.
        _ = try? fixture.run(photo("later"))
        try waitUntil("the process has printed") { folder.exists("printed") }
        #expect(try fixture.text(photo("count")) == "0")
    }

    @Test func aSurplusAnswerIsNotThatOfTheNextPhoto() throws {
        let fixture = try fixture()
        #expect(try fixture.text(photo("twice")) == "1")
        // The process prints its second answer while it has the next photo.
        let failure = try fixture.failure(photo("")) {
            #expect(throws: Never.self) { try folder.write("printed", "") }
            return false
        }
        #expect(failure.detail.contains("its answer is for photo 1, expected is 2"))
        #expect(try fixture.text(photo("count")) == "0")
    }

    @Test func aPhotoAfterWhichAKeptProcessCrashesIsTriedAgainOnce() throws {
        let fixture = try fixture()
        #expect(try fixture.text(photo("count")) == "0")
        // The second process answers, because this is its first photo.
        #expect(try fixture.text(photo("crashLater", Array("x".utf8))) == "x")
        #expect(try fixture.failure(photo("crash")).detail.contains("signal 11"))
    }

    @Test func aPhotoThatCrashesItsProcessEndsOneIdleProcess() throws {
        let fixture = try fixture()
        // The second photo runs while the first waits, so there are two processes.
        let (second, isWaiting) = (Locked<String?>(nil), Locked(true))
        let answer = try fixture.run(photo("wait")) {
            if isWaiting.exchange(false) {
                // This closure cannot throw.
                #expect(throws: Never.self) {
                    let text = try fixture.text(photo("count"))
                    second.withLock { $0 = text }
                }
                #expect(throws: Never.self) { try folder.write("printed", "") }
            }
            return false
        }
        #expect(answer == Array("1".utf8) && second.withLock { $0 } == "0" && fixture.left().count == 2)
        #expect(try fixture.failure(photo("crash")).detail.contains("signal 11"))
        #expect(fixture.left().count == 1)
        #expect(try fixture.text(photo("count")) == "1")
    }

    @Test func leavesNoProcesses() throws {
        let fixture = try fixture()
        #expect(try fixture.text(photo("children")) == "\u{1}")
        fixture.waitForProcess("sleep")
        fixture.operation.stop()
        #expect(fixture.left() == [])
    }
}
