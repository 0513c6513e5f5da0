/// An operation as `darkroom operations` shows it.
public struct OperationFacts: Sendable, Equatable {
    /// Where an operation stands.
    public enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// Its number in the batch, from 1.
    public let number: Int
    /// Where it stands.
    public let state: State
    /// Who holds it.
    public let worker: String?
    /// How many leases of it have expired.
    public let deaths: Int
    /// One letter a photo.
    public let letters: [UInt8]
}
