import DarkroomConcurrency
import DarkroomModel
import DarkroomStore

/// Says from time to time that the feeder of a batch lives, on a thread of its own: a feeder that waits for its list or
/// for Redis is not to be taken for one that is gone.
final class FeederHeart: Sendable {
    private let stopped = Latch()
    private let signal = Signal()
    private let thread: OwnedThread

    /// Begins to say so, a third as often as monitors ask for.
    init(store: BatchStore, batch: BatchID, every interval: Duration = .seconds(10)) {
        thread = OwnedThread("feeder-heart") { [stopped, signal] in
            while !stopped.isSet {
                guard !signal.wait(timeout: interval), !stopped.isSet else { continue }
                // While Redis is away nobody can hear it; what hinders the feed the feeder tells.
                store.send([store.feederHeartbeat(batch)]) { _ in }
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
