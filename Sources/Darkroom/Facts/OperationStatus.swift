import DarkroomStore

/// An operation: a run of consecutive photos of a batch that one worker takes at a time.
public struct OperationStatus: Sendable, Equatable {
    /// Where an operation is.
    public enum State: String, Sendable {
        /// In Redis, for any worker to claim.
        case queued
        /// Claimed by a worker.
        case executing
        /// Every photo of it is final.
        case ended
    }

    /// The number in the batch, from 1.
    public let number: Int
    /// Where it is.
    public let state: State
    /// The id of the worker that holds it; nil if none does.
    public let worker: String?
    /// How often its lease has expired because its worker was silent.
    public let leaseExpiries: Int
    /// The states of its photos in the order of the list.
    public let photos: [PhotoState]

    init(_ facts: OperationFacts, of batch: BatchFacts) {
        number = facts.number
        state = State(rawValue: facts.state.rawValue) ?? .ended
        worker = facts.worker
        leaseExpiries = facts.leaseExpiries
        photos = facts.stateCodes.map { PhotoState(stateCode: $0, of: batch) ?? .failed(.other) }
    }
}
