import DarkroomModel

/// Thrown if a user cancels a batch while its list is being fed. This is not a failure.
package struct BatchCancelled: Error, Sendable, CustomStringConvertible {
    /// The facts of the cancelled batch. `photos` is the number of photos that were fed.
    package let batch: BatchFacts

    package var description: String {
        "batch \(batch.id) was cancelled while it was fed"
            + (batch.cancelledReason.isEmpty ? "" : " (\(batch.cancelledReason))")
            + ": \(batch.photos) \(batch.photos == 1 ? "photo of the list was" : "photos of the list were") fed, nothing more will be"
    }
}
