/// An operation as `darkroom operations` shows it.
public struct OperationFacts: Sendable, Equatable {
    /// The state of an operation.
    public enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// Its number in the batch, from 1.
    public let number: Int
    /// Its state.
    public let state: State
    /// The worker that holds it.
    public let worker: String?
    /// How many leases of it have expired.
    public let leaseExpiries: Int
    /// One state code a photo.
    public let stateCodes: [UInt8]
}
