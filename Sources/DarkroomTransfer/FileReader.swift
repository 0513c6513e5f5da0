import Foundation

/// Reads the files of `file:` URLs on threads of its own, so that neither a disk nor a network share holds up the transfers.
final class FileReader: Sendable {
    /// Several, since on a network share reading is waiting; one more is started only when all are busy.
    private static let maxThreads = 4

    private struct State {
        var jobs: ArraySlice<@Sendable () -> Void> = []
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    private final class Queue: @unchecked Sendable {  // `state` is only touched while `condition` is locked
        let condition = NSCondition()
        var state = State()
    }

    private let queue = Queue()
    private let folders: ReadableFolders

    /// Reads files below `folders`.
    init(_ folders: ReadableFolders) { self.folders = folders }

    /// Reads the file at `path` and hands it to `completion` on a thread of the reader.
    func read(_ path: String, completion: @escaping @Sendable (Result<[UInt8], Refusal>) -> Void) {
        let job = { @Sendable [folders] in
            completion(Result { () throws(Refusal) in try folders.contents(ofFile: path) })
        }
        queue.condition.lock()
        queue.state.jobs.append(job)
        let needsThread = queue.state.idle == 0 && queue.state.threads < Self.maxThreads
        if needsThread { queue.state.threads += 1 }
        queue.condition.signal()
        queue.condition.unlock()
        if needsThread {
            let thread = Thread { [queue] in Self.work(queue) }
            thread.name = "darkroom-files"
            thread.start()
        }
    }

    /// Lets the threads end; a read that hangs is not waited for.
    func close() {
        queue.condition.lock()
        queue.state.isClosed = true
        queue.state.jobs = []
        queue.condition.broadcast()
        queue.condition.unlock()
    }

    private static func work(_ queue: Queue) {
        queue.condition.lock()
        while !queue.state.isClosed {
            if let job = queue.state.jobs.popFirst() {
                queue.condition.unlock()
                job()
                queue.condition.lock()
            } else {
                queue.state.idle += 1
                queue.condition.wait()
                queue.state.idle -= 1
            }
        }
        queue.condition.unlock()
    }
}
