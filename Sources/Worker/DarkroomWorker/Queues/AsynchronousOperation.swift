import DarkroomConcurrency
import Foundation

/// An operation that is executing until ``finish()`` is called. It occupies a slot of its queue, but no thread.
///
/// On Linux, an operation queue detects the end of an operation by key-value observing. Therefore, after `isFinished`
/// has become true, ``finish()`` must notify with exactly the key strings that the queue observes. A second call of
/// ``finish()`` has no effect. Even a cancelled operation ends only with ``finish()``.
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

    /// Starts the work. When the work ends, it must call ``finish()``, even if the operation was cancelled.
    func begin() { finish() }

    /// Ends the operation. Must not be called before the operation has started.
    final func finish() {
        guard progress.exchange(.finished) == .executing else { return }
        willChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
    }
}
