/// Calls a function at a fixed interval, on a separate thread.
package final class PeriodicThread: Sendable {
    private let isOver = Signal()
    private let thread: OwnedThread

    /// Starts the thread. The first call follows after one interval.
    package init(_ name: String, every interval: Duration, _ body: @escaping @Sendable () -> Void) {
        thread = OwnedThread(name) { [isOver] in
            while !isOver.wait(timeout: interval) { body() }
        }
    }

    deinit { isOver.raise() }

    /// Stops the thread, and blocks until it has ended.
    package func stop() {
        isOver.raise()
        thread.join()
    }
}
