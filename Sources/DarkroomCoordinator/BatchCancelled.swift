import DarkroomModel

/// Thrown if the batch is cancelled while it is fed. It is not a failure: a user cancelled the batch.
package struct BatchCancelled: Error, Sendable, CustomStringConvertible {
    /// The batch when the feeder noticed the cancellation; `photos` is the number of photos that were fed.
    package let batch: BatchFacts

    package var description: String {
        "batch \(batch.id) was cancelled while it was fed"
            + (batch.cancelledReason.isEmpty ? "" : " (\(batch.cancelledReason))")
            + ": \(batch.photos) \(batch.photos == 1 ? "photo of the list was" : "photos of the list were") fed, nothing more will be"
    }
}
