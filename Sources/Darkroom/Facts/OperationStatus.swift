import DarkroomStore

/// An operation: consecutive photos of a batch that a worker claims together.
public struct OperationStatus: Sendable, Equatable {
    /// The state of an operation.
    public enum State: String, Sendable {
        /// Queued: any worker can claim it.
        case queued
        /// Claimed by a worker.
        case executing
        /// All its photos are final.
        case ended
    }

    /// The number in the batch, from 1.
    public let number: Int
    /// The state.
    public let state: State
    /// The id of the worker that has claimed the operation; nil if none has.
    public let worker: String?
    /// The number of expired leases of the operation.
    public let leaseExpiries: Int
    /// The states of the photos in the order of the list.
    public let photos: [PhotoState]

    init(_ facts: OperationFacts, of batch: BatchFacts) {
        number = facts.number
        state = State(rawValue: facts.state.rawValue) ?? .ended
        worker = facts.worker
        leaseExpiries = facts.leaseExpiries
        photos = facts.stateCodes.map { PhotoState(stateCode: $0, of: batch) ?? .failed(.other) }
    }
}
