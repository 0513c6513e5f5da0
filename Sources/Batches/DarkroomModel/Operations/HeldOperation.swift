/// An operation that a worker holds: the worker has claimed the operation and may run its photos.
package struct HeldOperation: Sendable, Hashable {
    package let batch: BatchID
    /// The number of the operation in the batch, counted from 1.
    package let number: Int
    /// The fencing token of the claim.
    package let fencingToken: Int

    package init(batch: BatchID, number: Int, fencingToken: Int) {
        self.batch = batch
        self.number = number
        self.fencingToken = fencingToken
    }
}
