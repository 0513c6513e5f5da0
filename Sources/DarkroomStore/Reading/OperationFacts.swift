/// The facts of an operation, for `darkroom operations`.
package struct OperationFacts: Sendable, Equatable {
    package enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// The number in the batch, from 1.
    package let number: Int
    package let state: State
    /// The worker that has claimed the operation.
    package let worker: String?
    package let leaseExpiries: Int
    /// One state code per photo.
    package let stateCodes: [UInt8]
}
