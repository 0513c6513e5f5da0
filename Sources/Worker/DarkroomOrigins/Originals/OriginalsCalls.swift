import DarkroomConcurrency
import DarkroomModel
import DarkroomStorage
import DarkroomTransfer

/// Makes a worker's calls that read and write originals.
///
/// DESIGN. The thread of the transfers and the thread that starts downloads must not wait for a disk. The threads of the
/// filtrations cannot write the file: a photo counts as downloaded only after its file was written, even while filtrations are
/// suspended. Therefore these calls have their own threads.
package final class OriginalsCalls: Sendable {
    /// The rules for fetches, which also apply to bytes from a folder.
    let rules: FetchRules
    private let threads = ThreadPool("darkroom-originals", maxThreads: 4)
    private let fileCalls: FileCalls
    private let worker: String
    /// A counter that gives each write its own temporary file name.
    private let writes = Locked(0)

    /// - Parameters:
    ///   - rules: the rules of the worker for hosts and addresses.
    ///   - worker: the worker's id.
    package init(_ rules: FetchRules, _ fileCalls: FileCalls, worker: String) {
        self.rules = rules
        self.fileCalls = fileCalls
        self.worker = worker
    }

    /// Runs `body` on a thread for originals. The call also counts as hanging while it waits for a thread, because calls may
    /// hang on all threads.
    func perform(for operation: HeldOperation, _ body: @escaping @Sendable () -> Void) {
        let call = fileCalls.begin(.download, of: operation)
        threads.perform { [fileCalls] in
            body()
            fileCalls.end(call)
        }
    }

    /// Returns a writer name that no other call returns.
    func nextWriter() -> String {
        let number = writes.withLock { number in
            number += 1
            return number
        }
        return "\(worker).\(number)"
    }
}
