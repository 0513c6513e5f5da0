import DarkroomConcurrency
import Foundation

/// An operation that is executing until ``finish()`` is called. It occupies a slot of its queue, but no thread.
///
/// On Linux a queue detects the end by key-value observing with exactly these key strings, and only if `isFinished` is
/// already true. A second call of ``finish()`` has no effect. Even a cancelled operation ends only with ``finish()``.
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

    /// Starts the work. The end of the work must call ``finish()``, even if the operation was cancelled before.
    func begin() { finish() }

    /// Ends the operation. Must not be called before the operation has started.
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
