import DarkroomModel

/// Something that happened to a photo in a worker, for those who measure.
package struct PhotoMoment: Sendable {
    /// What happened.
    package enum Kind: Sendable {
        /// Its transfer was begun, after it had waited for its turn.
        case downloadBegan
        /// Its transfer is over, whatever came of it.
        case downloadEnded
        /// Its filter was begun.
        case filtrationBegan
        /// Its filter is over and, when it was wanted, its file in place.
        case filtrationEnded
    }

    package let kind: Kind
    package let batch: BatchID
    /// Of the photo in its list.
    package let index: Int
    package let instant: ContinuousClock.Instant

    init(_ kind: Kind, _ photo: PhotoInProgress) {
        self.kind = kind
        batch = photo.operation.batch
        index = photo.record.index
        instant = .now
    }
}
