internal import CSystem
import DarkroomConcurrency
import Foundation

/// A program that a test has started. It ends with the test process at the latest.
package final class BoundProcess: Sendable {
    /// The process id. After the program has ended, another process may have the same id.
    package let identifier: Int32

    private let hasEnded: DispatchGroup
    private let status = Locked<Int32?>(nil)

    /// Starts a program from PATH. Its output is appended to a file.
    package init(_ arguments: [String], log path: String) throws {
        let log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked(pid_t(-1))
        let ending = status
        let hasEnded = DispatchGroup()
        hasEnded.enter()
        // The kernel kills the program when the thread that started it ends. Therefore this thread waits until the
        // program ends.
        Thread {
            var pointers = arguments.map { strdup($0) } + [nil]
            let identifier = csystem_spawn_bound(&pointers, nil, log, -1)
            pointers.forEach { free($0) }
            close(log)
            outcome.withLock { $0 = identifier }
            started.signal()
            var status: Int32 = 0
            if identifier > 0 { while waitpid(identifier, &status, 0) < 0 && errno == EINTR {} }
            let signal = status & 0x7f  // like WIFSIGNALED and WEXITSTATUS of waitpid(2)
            ending.withLock { $0 = signal == 0 ? status >> 8 & 0xff : 128 + signal }
            hasEnded.leave()
        }.start()
        started.wait()
        identifier = outcome.withLock { $0 }
        self.hasEnded = hasEnded
        guard identifier > 0 else { throw POSIXError(.ENOENT) }
    }

    /// The exit status, or 128 plus the signal that ended the program, or nil while it runs.
    package var exitStatus: Int32? { status.withLock { $0 } }

    /// Waits until the program has ended.
    /// - Returns: false after the timeout.
    package func wait(within timeout: Duration) -> Bool {
        let nanoseconds =
            Int(timeout.components.seconds) * 1_000_000_000 + Int(timeout.components.attoseconds) / 1_000_000_000
        return hasEnded.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    /// Kills the program, and waits for its end.
    package func stop() {
        guard hasEnded.wait(timeout: .now()) == .timedOut else { return }
        kill(identifier, SIGKILL)
        hasEnded.wait()
    }
}
