import Darkroom
import DarkroomConcurrency
import Foundation

/// Feeds a list on a thread of its own, so that the command can show meanwhile how it goes on and can be interrupted.
///
/// A feed ends with all of the list fed and safe, with an error, or when its batch is cancelled, which its facts tell.
final class BatchFeed: Sendable {
    private struct State {
        var batch: BatchID?
        var outcome: Result<BatchFacts, any Error>?
    }

    private let state = Locked(State())
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts feeding.
    /// - Parameter feed: submits or resumes; calls its argument as soon as the batch's id is known.
    init(_ feed: @escaping @Sendable (_ onBegun: (BatchID) -> Void) throws -> BatchFacts) {
        _ = OwnedThread("feed") { [self] in
            let outcome = Result {
                do {
                    return try feed { id in
                        state.withLock { $0.batch = id }
                        begun.signal()
                    }
                } catch let cancelled as BatchCancelled {
                    return cancelled.batch
                }
            }
            state.withLock { $0.outcome = outcome }
            begun.signal()
            ended.signal()
        }
    }

    /// The batch, once its id is known.
    var batch: BatchID? { state.withLock { $0.batch } }

    /// Whether the feed has ended, however.
    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Blocks until the batch's id is known.
    func waitUntilBegun() throws -> BatchID {
        begun.wait()
        begun.signal()
        guard let batch else { return try waitUntilEnded().id }
        return batch
    }

    /// Blocks until the feed has ended.
    func waitUntilEnded() throws -> BatchFacts {
        while true {
            if let facts = try waitUntilEnded(for: .seconds(3600)) { return facts }
        }
    }

    /// Blocks until the feed has ended, or the time is over, then nil.
    func waitUntilEnded(for duration: Duration) throws -> BatchFacts? {
        guard ended.wait(timeout: .now() + duration / .seconds(1)) == .success else { return nil }
        ended.signal()
        return try state.withLock { $0.outcome }?.get()
    }
}
