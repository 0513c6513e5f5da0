import Foundation

/// A thread whose end its owner can wait for.
package final class OwnedThread: @unchecked Sendable {  // `thread` is started in `init` and from then on only compared
    private let thread: Thread
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a thread named `name` that runs `body`.
    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let ended = ended
        thread = Thread {
            body()
            ended.signal()
        }
        thread.name = name
        thread.start()
    }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool { Thread.current === thread }

    /// Blocks until the thread has ended. Any number of threads may wait. Returns at once on the thread itself.
    package func join() {
        guard !isCurrent else { return }
        ended.wait()
        ended.signal()
    }

    /// Blocks until the thread has ended, or until `timeout` has passed; then it returns false.
    package func join(timeout: Duration) -> Bool {
        guard ended.wait(timeout: .now() + timeout / .seconds(1)) == .success else { return false }
        ended.signal()
        return true
    }
}
