/// The facts that `darkroom operations` shows about an operation.
package struct OperationFacts: Sendable, Equatable {
    package enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// The number of the operation in the batch, counted from 1.
    package let number: Int
    package let state: State
    /// The worker that has claimed the operation.
    package let worker: String?
    package let leaseExpiries: Int
    /// The state codes, one byte for each photo.
    package let stateCodes: [UInt8]
}
