import Darkroom
import DarkroomConcurrency
import DarkroomStore

/// Lets the focus of batches follow the photos that a page shows, so that these photos run first.
///
/// A separate thread sets the focus, so that pages do not wait for it. If a page is scrolled again before the focus is
/// set, only its last position is used.
final class ViewFollower: Sendable {
    private struct Followed {
        /// The photos that run first; nil if the page has left.
        var wanted: ClosedRange<Int>?
        /// The focus that was set.
        var applied: ClosedRange<Int>?
        /// Whether the batch has finished. A finished batch has no focus.
        var isFinished = false

        var isDue: Bool { wanted == nil || wanted != applied && !isFinished }
    }

    private struct State {
        var batches: [BatchID: Followed] = [:]
        var isClosed = false
    }

    /// The shortest time between two changes of the focus of a batch.
    private static let shortest = Duration.milliseconds(200)

    private let client: DarkroomClient
    private let state = Locked(State())
    private let signal = Signal()
    private let thread = Locked<OwnedThread?>(nil)

    init(_ client: DarkroomClient) {
        self.client = client
        thread.withLock { thread in
            thread = OwnedThread("focus") { [weak self] in
                while let signal = self?.signal, let isBusy = self?.turn() {
                    // The pause limits the changes to five a second. During the pause, only the last position is kept.
                    if isBusy { Signal().wait(timeout: Self.shortest) } else { signal.wait() }
                }
            }
        }
    }

    deinit { signal.raise() }

    func follow(_ batch: BatchID, _ photos: ClosedRange<Int>) {
        state.withLock { $0.batches[batch, default: Followed()].wanted = photos }
        signal.raise()
    }

    /// Clears the focus, unless somebody else has set another focus.
    func leave(_ batch: BatchID) {
        state.withLock { $0.batches[batch]?.wanted = nil }
        signal.raise()
    }

    /// The focus that was set and is still wanted; nil if it is about to change.
    func appliedFocus(of batch: BatchID) -> ClosedRange<Int>? {
        state.withLock { state in
            state.batches[batch].flatMap { $0.wanted == $0.applied ? $0.applied : nil }
        }
    }

    /// Notes whether a batch has finished. Redis clears the focus of a finished batch; the focus is set again when
    /// photos are retried.
    func note(_ batch: BatchID, isFinished: Bool) {
        state.withLock { state in
            guard let followed = state.batches[batch], followed.isFinished != isFinished else { return }
            state.batches[batch]?.isFinished = isFinished
            state.batches[batch]?.applied = nil
        }
        signal.raise()
    }

    /// Stops following a batch, and keeps the focus that somebody else has set for the batch.
    /// - Parameter focus: the focus that was set here. If another focus has been requested since then, nothing happens.
    /// - Returns: whether the batch is no longer followed.
    func forget(_ batch: BatchID, _ focus: ClosedRange<Int>) -> Bool {
        state.withLock { state in
            guard let followed = state.batches[batch], followed.wanted == focus, followed.applied == focus else {
                return false
            }
            state.batches[batch] = nil
            return true
        }
    }

    /// Clears the focus of all batches that were followed, and ends the thread.
    func close() {
        state.withLock { state in
            for batch in state.batches.keys { state.batches[batch]?.wanted = nil }
            state.isClosed = true
        }
        signal.raise()
        thread.exchange(nil)?.join()
    }

    /// Sets the focus of the batches whose pages have moved.
    /// - Returns: whether there was something to do; nil if the thread must end.
    private func turn() -> Bool? {
        let (due, isClosed) = state.withLock { state in
            (state.batches.filter(\.value.isDue), state.isClosed)
        }
        for (batch, followed) in due {
            guard let isTaken = apply(followed, to: batch) else { continue }
            state.withLock { state in
                if !isTaken || followed.wanted == nil, state.batches[batch]?.wanted == followed.wanted {
                    state.batches[batch] = nil
                } else if isTaken {
                    state.batches[batch]?.applied = followed.wanted
                }
            }
        }
        return isClosed ? nil : !due.isEmpty
    }

    /// Returns whether Redis has accepted the change; nil if the change must be tried again.
    private func apply(_ followed: Followed, to batch: BatchID) -> Bool? {
        do {
            if let wanted = followed.wanted {
                _ = try client.control.focus(batch, wanted, only: false)
            } else if let applied = followed.applied {
                // Somebody may have set another focus in place of `applied`.
                try client.control.clearFocus(batch, ifStill: applied)
            }
            return true
        } catch {
            // Unless Redis is unreachable, the batch is cancelled, finished or gone, which the stream of the page
            // reports.
            return DarkroomError(error, "set the focus").isTransient ? nil : false
        }
    }
}
