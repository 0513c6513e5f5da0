import DarkroomConcurrency
import DarkroomModel
import DarkroomStore

/// Data that the driver of the state attaches to an operation. The state stores it and returns it, and never reads it.
package protocol OperationResources: AnyObject, Sendable {}

/// A photo that this worker has begun, from its download to its outcome. If the photo begins again, that is another task.
package final class PhotoTask: Sendable {
    /// Which photo it is. One photo never runs twice at the same time in one worker.
    struct Key: Hashable {
        let batch: BatchID
        let index: Int
    }

    package let record: PhotoRecord
    package let operation: HeldOperation
    package let resources: any OperationResources
    /// True if the bytes are in the batch's folder of originals.
    package let isStored: Bool
    /// True if leases of the operation expired at least twice: the photo may have crashed a worker.
    package let isQuarantined: Bool
    /// Cancelled if the result is no longer needed: the transfer is aborted, the bytes are freed, and the filter stops at its next
    /// check. Withdrawn if the download must not begin.
    package let cancellation = CancellationToken()

    init(
        _ record: PhotoRecord, of operation: HeldOperation, _ resources: any OperationResources, isStored: Bool,
        isQuarantined: Bool
    ) {
        self.record = record
        self.operation = operation
        self.resources = resources
        self.isStored = isStored
        self.isQuarantined = isQuarantined
    }

    var key: Key { Key(batch: operation.batch, index: record.index) }
}

/// One attempt to filter a photo. A photo that was withdrawn from the local queue gets another attempt.
package struct FilterJob: Sendable {
    package let task: PhotoTask
    /// The number of the attempt, unique among all photos.
    package let attempt: Int
    /// The priority of the batch when the attempt was queued.
    package let priority: BatchPriority
}

package struct PhotoOutcome: Sendable {
    /// A final state.
    package var state: PhotoState
    package var line: ManifestLine
    /// Bytes that its download transferred.
    package var bytesIn: Int
    /// Bytes of its file.
    package var bytesOut: Int

    package init(state: PhotoState, line: ManifestLine, bytesIn: Int = 0, bytesOut: Int = 0) {
        self.state = state
        self.line = line
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
    }
}

/// The urgency of a photo: the priority of its batch, and within a batch the photos in its focus first.
package struct Urgency: Equatable, Sendable {
    package let priority: BatchPriority
    package let isInFocus: Bool
}
