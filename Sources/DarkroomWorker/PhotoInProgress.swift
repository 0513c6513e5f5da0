import DarkroomConcurrency
import DarkroomModel
import DarkroomStore

/// A photo that this worker has begun: from its download to its report to the ledger.
final class PhotoInProgress: Sendable {
    /// A photo never runs twice in one worker: this is what tells two runs apart.
    struct Key: Hashable {
        let batch: BatchID
        let index: Int
    }

    let record: PhotoRecord
    let operation: HeldOperation
    let context: BatchContext
    /// Set when its result is no longer wanted: the transfer is aborted, the filter stops at its next check.
    let cancelled = Latch()

    init(_ record: PhotoRecord, of operation: HeldOperation, _ context: BatchContext) {
        self.record = record
        self.operation = operation
        self.context = context
    }

    var key: Key { Key(batch: operation.batch, index: record.index) }
}

/// How a photo ended.
struct PhotoOutcome: Sendable {
    var state: PhotoRecordState
    var line: ManifestLine
    var bytesIn = 0
    var bytesOut = 0
}
