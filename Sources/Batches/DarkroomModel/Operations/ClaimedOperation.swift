/// An operation that was claimed.
package struct ClaimedOperation: Sendable, Equatable {
    /// The batch, the number and the fencing token of the operation.
    package let held: HeldOperation
    /// The state codes of the photos, one byte for each photo.
    package let stateCodes: [UInt8]
    /// The number of expired leases of this operation.
    package let leaseExpiries: Int
    /// The photos of the operation, packed (see ``OperationEntry``).
    package let entry: [UInt8]
    /// The download attempts of the photos, as an earlier worker stored them (see ``RetryCoding``); "" if there are
    /// none.
    package var retries: String

    package init(
        held: HeldOperation, stateCodes: [UInt8], leaseExpiries: Int, entry: [UInt8], retries: String = ""
    ) {
        self.held = held
        self.stateCodes = stateCodes
        self.leaseExpiries = leaseExpiries
        self.entry = entry
        self.retries = retries
    }
}
