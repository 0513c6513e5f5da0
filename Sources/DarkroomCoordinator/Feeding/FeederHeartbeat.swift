import DarkroomConcurrency
import DarkroomModel
import DarkroomStore

/// Sends the heartbeat of a batch's feeder on a thread of its own. It lets monitors distinguish a feeder that waits for
/// its list or for Redis from a feeder that has crashed.
final class FeederHeartbeat: Sendable {
    private let stopped = Latch()
    private let signal = Signal()
    private let thread: OwnedThread

    /// Starts the heartbeat. Monitors report a feeder after 30 s without a heartbeat, three times the default interval.
    init(store: BatchStore, batch: BatchID, every interval: Duration = .seconds(10)) {
        thread = OwnedThread("feeder-beat") { [stopped, signal] in
            while !stopped.isSet {
                guard !signal.wait(timeout: interval), !stopped.isSet else { continue }
                // A failed heartbeat is ignored, because the feeder itself reports a lost connection.
                store.send([store.feederHeartbeat(batch)]) { _ in }
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
