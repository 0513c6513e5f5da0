import DarkroomLogging
import DarkroomModel
import DarkroomStore

/// What the worker's events say of operations and photos.
extension LogMetadata {
    /// Which operation.
    init(_ held: HeldOperation) { self = [.batch: .text(held.batch), .operation: .number(held.number)] }

    /// Which photo failed, and what was found.
    init(_ photo: PhotoInProgress, _ reason: FailureReason, _ line: ManifestLine) {
        self.init(photo.operation)
        self[.photo] = .number(photo.record.index)
        self[.url] = .url(photo.record.url)
        self["reason"] = .text(reason.word)
        self["detail"] = line.detail.map { .text($0) }
        self["attempts"] = line.attempts.map { .number($0) }
    }
}
