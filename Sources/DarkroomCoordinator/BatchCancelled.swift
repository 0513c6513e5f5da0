import DarkroomModel

/// What a feed ends with when its batch is cancelled meanwhile: no failure, somebody wanted it so.
package struct BatchCancelled: Error, Sendable, CustomStringConvertible {
    /// The batch as it stood when the feeder was told; `photos` is how many of the list were fed.
    package let batch: BatchFacts

    /// A sentence for users.
    package var description: String {
        "batch \(batch.id) was cancelled while it was fed"
            + (batch.cancelledReason.isEmpty ? "" : " (\(batch.cancelledReason))")
            + ": \(batch.photos) \(batch.photos == 1 ? "photo of the list was" : "photos of the list were") fed, nothing more will be"
    }
}
