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
    /// True when its bytes lie in the batch's folder of originals.
    let isStored: Bool
    /// True when workers have died on its operation: perhaps of it.
    let isSuspect: Bool
    /// Set when its result is no longer wanted: the transfer is aborted, the filter stops at its next check.
    let cancelled = Latch()
    /// Set when its download is not to begin any more; one that has begun goes on.
    let withdrawn = Latch()

    init(
        _ record: PhotoRecord, of operation: HeldOperation, _ context: BatchContext, isStored: Bool = false,
        isSuspect: Bool = false
    ) {
        self.record = record
        self.operation = operation
        self.context = context
        self.isStored = isStored
        self.isSuspect = isSuspect
    }

    var key: Key { Key(batch: operation.batch, index: record.index) }
}

/// A photo in the ledger's books, from its beginning to its end.
struct BegunPhoto {
    /// How far it has come.
    enum Stage {
        /// On its way to its download.
        case queued
        /// Its download waits for its host or for another attempt, and holds no place meanwhile.
        case waiting
        case downloading
        /// Its bytes are here and wait for a place in the local queue of filtrations.
        case ready
        /// In the local queue of filtrations, not begun.
        case filterQueued
        case filtering
        /// Its file is getting its final name: nothing can stop it any more.
        case placing
    }

    let photo: PhotoInProgress
    var stage = Stage.queued
    /// Whether an attempt of its download has begun.
    var hasBegun = false
    /// True while its download is being aborted.
    var isStopped = false
    /// Of its downloaded bytes.
    var bytes = 0
    /// Which of its filtrations is meant: one that was taken back and queued again has another.
    var ticket = 0
}

/// How a photo ended.
struct PhotoOutcome: Sendable {
    var state: PhotoRecordState
    var line: ManifestLine
    var bytesIn = 0
    var bytesOut = 0
}

/// How urgent something local is: by the priority of its batch, and within one batch what is in its focus first.
struct Urgency: Equatable, Sendable {
    let priority: Priority
    let isInFocus: Bool
}
