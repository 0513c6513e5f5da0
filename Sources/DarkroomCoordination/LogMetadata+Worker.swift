import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// What the worker's events say of operations and photos.
extension LogMetadata {
    /// Which operation.
    package init(_ held: HeldOperation) { self = [.batch: .text(held.batch), .operation: .number(held.number)] }

    /// Which batch, and what became of its photos.
    package init(_ batch: BatchFacts) {
        self = [
            .batch: .text(batch.id), "photos": .number(batch.photos), "filtered": .number(batch.counts.filtered),
            "failed": .number(batch.counts.failed), "cancelled": .number(batch.counts.cancelled),
        ]
        if !batch.options.name.isEmpty { self["name"] = .text(batch.options.name) }
    }

    /// Which photo failed, and what was found.
    package init(_ photo: PhotoTask, _ reason: FailureReason, _ line: ManifestLine) {
        self.init(photo.operation)
        self[.photo] = .number(photo.record.index)
        self[.url] = .url(photo.record.url)
        self["reason"] = .text(reason.word)
        self["detail"] = line.detail.map { .text($0) }
        self["attempts"] = line.attempts.map { .number($0) }
    }
}
