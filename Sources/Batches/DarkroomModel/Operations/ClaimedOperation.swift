/// An operation that was claimed.
package struct ClaimedOperation: Sendable, Equatable {
    /// The batch, the number and the fencing token of the operation.
    package let held: HeldOperation
    /// The state codes of the photos, one byte for each photo.
    package let stateCodes: [UInt8]
    /// The number of leases of this operation that have expired.
    package let leaseExpiries: Int
    /// The photos of the operation, packed (see ``OperationEntry``).
    package let entry: [UInt8]
    /// What an earlier worker knew about the attempts to download photos, and when (see ``RetryCoding``); "" if nothing.
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
