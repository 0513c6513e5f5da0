import DarkroomConcurrency

/// Flushes a pipeline from time to time, on a thread of its own: the operations that are whole are fed also while the list
/// pauses and the feeding thread waits for it.
final class PausedListFlush: Sendable {
    private let stopped = Latch()
    private let signal = Signal()
    private let thread: OwnedThread

    /// Begins to flush `pipeline`.
    init(_ pipeline: FeedPipeline, every interval: Duration = .milliseconds(250)) {
        thread = OwnedThread("feed-flush") { [stopped, signal] in
            while !stopped.isSet {
                signal.wait(timeout: interval)
                if !stopped.isSet { pipeline.flush() }
            }
        }
    }

    /// Ends it, and waits for its end.
    func stop() {
        stopped.set()
        signal.raise()
        thread.join()
    }
}
