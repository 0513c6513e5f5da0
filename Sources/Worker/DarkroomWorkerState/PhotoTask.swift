import DarkroomConcurrency
import DarkroomHosts
import DarkroomModel

/// A photo that this worker has started, from its download to its outcome. Each start of the photo creates a new task.
package final class PhotoTask: Sendable {
    /// Identifies the photo. A worker never runs two tasks of the same photo at a time.
    struct Key: Hashable {
        let batch: BatchID
        let index: Int
    }

    package let record: PhotoRecord
    package let operation: HeldOperation
    /// Whether the bytes of the photo are in the batch's folder of originals.
    package let isStored: Bool
    /// Whether the lease of the operation has expired at least twice, so that the photo may have crashed a worker.
    package let isQuarantined: Bool
    /// The earlier download attempts of the photo.
    package let history: RetryHistory
    /// The token is cancelled if the result is no longer needed: the transfer is aborted, the bytes are freed, and the
    /// filtration stops at its next check. The token is withdrawn if the download must not start.
    package let cancellation = CancellationToken()

    init(
        _ record: PhotoRecord, of operation: HeldOperation, isStored: Bool, isQuarantined: Bool,
        history: RetryHistory = RetryHistory()
    ) {
        self.record = record
        self.operation = operation
        self.isStored = isStored
        self.isQuarantined = isQuarantined
        self.history = history
    }

    var key: Key { Key(batch: operation.batch, index: record.index) }
}

/// One attempt to filter a photo. If the photo is withdrawn from the queue, its next filtration is a new attempt.
package struct FilterJob: Sendable {
    package let task: PhotoTask
    /// The number of the attempt, unique among all photos.
    package let attempt: Int
    /// The priority of the batch when the attempt was queued.
    package let priority: BatchPriority
}

package struct PhotoOutcome: Sendable {
    /// The final state of the photo.
    package var state: PhotoState
    package var line: ManifestLine
    /// The number of bytes that the download transferred.
    package var bytesIn: Int
    /// The size of the photo's files in bytes.
    package var bytesOut: Int
    /// Whether the photo has a gain map that one of its files lacks.
    package var lostGainMap = false
    /// When the worker began to write the photo's files; nil if it did not.
    package var writeBegan: ContinuousClock.Instant?

    package init(state: PhotoState, line: ManifestLine, bytesIn: Int = 0, bytesOut: Int = 0) {
        self.state = state
        self.line = line
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
    }
}

/// The urgency of a photo: the priority of its batch and, within the batch, whether the photo is in the focus.
package struct Urgency: Equatable, Sendable {
    package let priority: BatchPriority
    package let isInFocus: Bool
}
