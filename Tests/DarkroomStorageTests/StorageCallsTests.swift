import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage

/// File system calls that may hang. In these tests a semaphore blocks them.
@Suite(.timeLimit(.minutes(5))) struct StorageCallsTests {
    private let answers = DispatchSemaphore(value: 0)
    private let answered = DispatchSemaphore(value: 0)

    private func hang(_ calls: StorageCalls, at folder: String) -> String? {
        calls.perform(onAnswer: { [answered] _ in answered.signal() }) { [answers] call in
            call.accesses(folder)
            answers.wait()
        }
    }

    @Test func abandonsAHangingCallAndRecordsItsMountPoint() {
        let calls = StorageCalls(patience: .milliseconds(50), roots: [])
        #expect(hang(calls, at: "/proc/self") == "the file system at /proc")
        #expect(calls.hungDomain(of: ["", NSTemporaryDirectory(), "/proc/1"]) == "the file system at /proc")
        #expect(calls.hungDomain(of: ["", NSTemporaryDirectory()]) == nil)
        // Calls on other file systems run while this call hangs.
        #expect(calls.perform(onAnswer: { _ in }, { $0.accesses("/dev") }) == nil)
        answers.signal()
        answered.wait()
        #expect(calls.hungDomain(of: ["/proc/1"]) == nil)
    }

    @Test func acceptsASymbolicLinkAsARootFolder() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        let link = folder + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc")
        let calls = StorageCalls(patience: .milliseconds(50), roots: [folder, link, "/no such folder"])
        #expect(hang(calls, at: link + "/self") == "the file system at /proc")
        #expect(
            calls.hungDomain(of: [link + "/1"]) == "the file system at /proc"
                && calls.hungDomain(of: ["/proc"]) == "the file system at /proc")
        #expect(calls.hungDomain(of: [folder + "/other"]) == nil)
        answers.signal()
        answered.wait()
    }

    /// The call takes as long as three calls that hang, one after the other.
    @Test func waitsForACallWithoutAFolder() {
        let calls = StorageCalls(patience: .milliseconds(10), roots: [])
        let isOver = Latch()
        let mount = calls.perform(onAnswer: { _ in }) { call in
            call.accesses("/proc")
            call.accesses("")
            for _ in 1...3 {
                #expect(hang(StorageCalls(patience: .milliseconds(10), roots: []), at: "/proc/self") != nil)
            }
            isOver.set()
        }
        #expect(mount == nil && isOver.isSet)
        for _ in 1...3 {
            answers.signal()
            answered.wait()
        }
    }

    @Test func callAfterCloseReturns() {
        let calls = StorageCalls(patience: .milliseconds(10), roots: [])
        calls.close()
        #expect(calls.perform(onAnswer: { _ in }, { _ in Issue.record("a closed pool runs a call") }) == nil)
    }
}
