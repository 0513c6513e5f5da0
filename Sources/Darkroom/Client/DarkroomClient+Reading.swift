/// Reading: how it stands at the moment. What changes is told by ``DarkroomClient/events()``.
extension DarkroomClient {
    /// What Redis keeps of a photo that failed.
    public struct Failure: Sendable, Equatable {
        /// Its place in the list, from 0.
        public let index: Int
        /// What is kept of it, as JSON: `name`, `url` (without password and query), `reason`, `detail`, `attempts`.
        public let json: String
    }

    /// The facts of all batches, earliest submission first.
    public func batches() async throws -> [BatchFacts] {
        try await blocking { [store] in try store.facts(of: try store.batchIDs()) }
    }

    /// The batch that is named by its id, a unique prefix of it, or its name.
    /// - Throws: `StoreError` with the code `noSuchBatch` or `ambiguousBatch`, which lists what there is.
    public func batch(named name: String) async throws -> BatchFacts {
        try await blocking { [store] in try store.batch(named: name) }
    }

    /// The facts of a batch; nil when it is gone.
    public func facts(of id: BatchID) async throws -> BatchFacts? {
        try await blocking { [store] in try store.facts(of: id) }
    }

    /// What became of the photos with these indexes, in order; fewer when fewer are fed, none when the batch is gone.
    /// - Parameter id: The batch.
    /// - Parameter range: indexes from 0; nil is the whole batch, a byte a photo.
    public func photos(of id: BatchID, in range: Range<Int>? = nil) async throws -> [PhotoRecordState] {
        try await blocking { [store] in
            guard let facts = try store.facts(of: id) else { return [] }
            return try store.stateCodes(of: id, in: range ?? 0..<facts.photos).map { stateCode in
                let state = PhotoRecordState(stateCode: stateCode) ?? .failed(.other)
                // Nobody rewrites the letters of a cancelled batch.
                return facts.cancelled && !state.isFinal ? .cancelled : state
            }
        }
    }

    /// What is kept of the photos that failed, in order: those of the first 10,000 that did.
    public func failures(of id: BatchID) async throws -> [Failure] {
        try await blocking { [store] in
            try store.failures(of: id).map { Failure(index: $0.index, json: $0.json) }
        }
    }

    /// The operations with these numbers (from 1), at most 1,000 at a time; nil is the first 1,000.
    public func operations(of id: BatchID, in range: ClosedRange<Int>? = nil) async throws -> [OperationFacts] {
        try await blocking { [store] in
            guard let facts = try store.facts(of: id) else { return [] }
            return try store.operations(of: facts, in: range ?? 1...1000)
        }
    }

    /// The workers that were heard of within the last hour, the one heard of last first.
    public func workers() async throws -> [WorkerFacts] { try await blocking { [store] in try store.workers() } }

    /// What is suspended and limited of the cluster as a whole.
    public func cluster() async throws -> ClusterControls {
        try await blocking { [store] in try store.clusterControls() }
    }

    /// The batches that a batch waits for.
    public func dependencies(of id: BatchID) async throws -> [BatchID] {
        try await blocking { [store] in try store.dependencies(of: id) }
    }
}
