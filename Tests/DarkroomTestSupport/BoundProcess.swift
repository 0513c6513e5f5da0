internal import CSystem
import DarkroomConcurrency
import Foundation

/// A program that a test has started; it ends with the test process, at the latest.
package final class BoundProcess: Sendable {
    /// Its id; another process may have it after its end.
    package let identifier: Int32

    private let hasEnded: DispatchGroup
    private let status = Locked<Int32?>(nil)

    /// Starts a program that is found by PATH; what it prints is appended to a file.
    package init(_ arguments: [String], log path: String) throws {
        let log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked(pid_t(-1))
        let ending = status
        let hasEnded = DispatchGroup()
        hasEnded.enter()
        // The kernel ends the program with the thread that started it, so that is one that waits for its end.
        Thread {
            var pointers = arguments.map { strdup($0) } + [nil]
            let identifier = csystem_spawn_bound(&pointers, nil, log, -1)
            pointers.forEach { free($0) }
            close(log)
            outcome.withLock { $0 = identifier }
            started.signal()
            var status: Int32 = 0
            if identifier > 0 { while waitpid(identifier, &status, 0) < 0 && errno == EINTR {} }
            let signal = status & 0x7f  // as WIFSIGNALED and WEXITSTATUS of waitpid(2) have it
            ending.withLock { $0 = signal == 0 ? status >> 8 & 0xff : 128 + signal }
            hasEnded.leave()
        }.start()
        started.wait()
        identifier = outcome.withLock { $0 }
        self.hasEnded = hasEnded
        guard identifier > 0 else { throw POSIXError(.ENOENT) }
    }

    /// Its exit status, or 128 and the signal that ended it; nil while it runs.
    package var exitStatus: Int32? { status.withLock { $0 } }

    /// Waits until it has ended.
    /// - Returns: false when the time passed first.
    package func wait(within timeout: Duration) -> Bool {
        let nanoseconds =
            Int(timeout.components.seconds) * 1_000_000_000 + Int(timeout.components.attoseconds) / 1_000_000_000
        return hasEnded.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    /// Ends it, and waits for its end.
    package func stop() {
        guard hasEnded.wait(timeout: .now()) == .timedOut else { return }
        kill(identifier, SIGKILL)
        hasEnded.wait()
    }
}
