import DarkroomModel

/// A photo that became final in this worker, for measurements.
package struct FinishedPhoto: Sendable {
    package let record: PhotoRecord
    /// The position of the photo in its operation.
    package let position: Int
    /// The final state.
    package let state: PhotoState
    /// The number of bytes that the download transferred.
    package let bytesIn: Int
    /// The size of the photo's files in bytes.
    package let bytesOut: Int
    package let times: PhotoTimes
    /// When the photo became final.
    package let ended: ContinuousClock.Instant
}

/// When the steps of a photo began and ended. An instant is nil if the photo had no such step.
package struct PhotoTimes: Sendable {
    /// When the first download attempt of the photo began.
    package internal(set) var downloadBegan: ContinuousClock.Instant?
    package internal(set) var downloadEnded: ContinuousClock.Instant?
    package internal(set) var filterBegan: ContinuousClock.Instant?
    /// When the photo was filtered and the worker began to write its files.
    package internal(set) var writeBegan: ContinuousClock.Instant?
}
