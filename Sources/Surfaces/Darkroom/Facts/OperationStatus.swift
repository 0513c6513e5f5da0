import DarkroomStore

/// An operation: consecutive photos of a batch, which a worker claims together.
public struct OperationStatus: Sendable, Equatable {
    /// The state of an operation.
    public enum State: String, Sendable {
        /// The operation is queued: any worker can claim it.
        case queued
        /// A worker has claimed the operation.
        case executing
        /// All photos of the operation are final.
        case ended
    }

    /// The number of the operation in the batch, counted from 1.
    public let number: Int
    /// The state.
    public let state: State
    /// The id of the worker that has claimed the operation; nil if no worker has claimed it.
    public let worker: String?
    /// The number of leases of this operation that have expired.
    public let leaseExpiries: Int
    /// The states of the photos, in the order of the list.
    public let photos: [PhotoState]

    init(_ facts: OperationFacts, of batch: BatchFacts) {
        number = facts.number
        state = State(rawValue: facts.state.rawValue) ?? .ended
        worker = facts.worker
        leaseExpiries = facts.leaseExpiries
        photos = facts.stateCodes.map { PhotoState(stateCode: $0, of: batch) ?? .failed(.other) }
    }
}
