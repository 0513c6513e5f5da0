import DarkroomConcurrency

/// Flushes a pipeline at regular intervals, on a thread of its own, so that operations are fed even while the feeding
/// thread waits for a list that pauses.
final class PausedListFlush: Sendable {
    private let stopped = Latch()
    private let signal = Signal()
    private let thread: OwnedThread

    /// Starts the thread.
    init(_ pipeline: FeedPipeline, every interval: Duration = .milliseconds(250)) {
        thread = OwnedThread("feed-flush") { [stopped, signal] in
            while !stopped.isSet {
                signal.wait(timeout: interval)
                if !stopped.isSet { pipeline.flush() }
            }
        }
    }

    /// Stops the thread and waits until it has ended.
    func stop() {
        stopped.set()
        signal.raise()
        thread.join()
    }
}
