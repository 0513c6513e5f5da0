import Foundation

/// A thread that belongs to somebody, who can wait for its end.
package final class OwnedThread: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a thread named `name` that runs `body`.
    package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let ended = ended
        let thread = Thread {
            body()
            ended.signal()
        }
        thread.name = name
        thread.start()
    }

    /// Blocks until the thread has ended. Any number of threads may wait.
    package func join() {
        ended.wait()
        ended.signal()
    }
}
