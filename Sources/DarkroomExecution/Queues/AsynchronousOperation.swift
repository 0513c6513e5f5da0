import DarkroomConcurrency
import Foundation

/// An operation that is executing until somebody calls ``finish()``, so that it holds a place in its queue but no thread.
///
/// On Linux a queue learns of the end by key-value observing with these very strings, and only if `isFinished` is
/// already true then. Finishing twice does nothing; cancelling leaves the end to whoever works for the operation.
class AsynchronousOperation: Operation, @unchecked Sendable {  // `progress` is behind a lock
    private enum Progress { case waiting, executing, finished }
    private let progress = Locked(Progress.waiting)

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { progress.withLock { $0 == .executing } }
    override var isFinished: Bool { progress.withLock { $0 == .finished } }

    final override func start() {
        willChangeValue(forKey: "isExecuting")
        progress.withLock { $0 = .executing }
        didChangeValue(forKey: "isExecuting")
        begin()
    }

    /// Starts the work; whoever ends it calls ``finish()``, also when the operation was cancelled before.
    func begin() { finish() }

    /// Ends the operation. Never before it was started.
    final func finish() {
        let isFirst = progress.withLock { progress in
            defer { progress = .finished }
            return progress == .executing
        }
        guard isFirst else { return }
        willChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
    }
}
