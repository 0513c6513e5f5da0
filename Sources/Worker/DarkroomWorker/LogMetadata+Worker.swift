import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// The metadata of the worker's log lines about operations and photos.
extension LogMetadata {
    init(_ held: HeldOperation) { self = [.batch: .text(held.batch), .operation: .number(held.number)] }

    init(_ batch: BatchFacts) {
        self = [
            .batch: .text(batch.id), "photos": .number(batch.photos), "filtered": .number(batch.counts.filtered),
            "failed": .number(batch.counts.failed), "cancelled": .number(batch.counts.cancelled),
        ]
        if !batch.options.name.isEmpty { self["name"] = .text(batch.options.name) }
    }

    init(_ photo: PhotoTask, _ reason: FailureReason, _ line: ManifestLine) {
        self.init(photo.operation)
        self[.photo] = .number(photo.record.index)
        self[.url] = .url(photo.record.url)
        self["reason"] = .text(reason.word)
        self["detail"] = line.detail.map { .text($0) }
        self["attempts"] = line.attempts.map { .number($0) }
    }
}
