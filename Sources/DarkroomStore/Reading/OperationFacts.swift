/// An operation as `darkroom operations` shows it.
package struct OperationFacts: Sendable, Equatable {
    /// The state of an operation.
    package enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// Its number in the batch, from 1.
    package let number: Int
    /// Its state.
    package let state: State
    /// The worker that holds it.
    package let worker: String?
    /// How many leases of it have expired.
    package let leaseExpiries: Int
    /// One state code a photo.
    package let stateCodes: [UInt8]
}
