import Foundation

/// A thread that its owner can join.
package final class OwnedThread: @unchecked Sendable {  // `thread` is started in `init` and only compared afterwards
    private let thread: Thread
    private let ended = DispatchSemaphore(value: 0)

    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let ended = ended
        thread = Thread {
            body()
            ended.signal()
        }
        thread.name = name
        thread.start()
    }

    package var isCurrent: Bool { Thread.current === thread }

    /// Blocks until the thread has ended. Several threads may wait at a time. Returns at once if called on
    /// the thread itself.
    package func join() {
        guard !isCurrent else { return }
        ended.wait()
        ended.signal()
    }

    /// Blocks until the thread has ended or `timeout` has passed. Returns false if the timeout has passed.
    package func join(timeout: Duration) -> Bool {
        guard ended.wait(timeout: .now() + timeout / .seconds(1)) == .success else { return false }
        ended.signal()
        return true
    }
}
