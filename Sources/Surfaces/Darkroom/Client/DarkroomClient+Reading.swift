import DarkroomStore

/// Calls that read the current state. ``DarkroomClient/follow(_:)`` and ``DarkroomClient/events()`` report changes.
extension DarkroomClient {
    /// Reads the facts of all batches, earliest submission first.
    public func batches() async throws -> [BatchFacts] {
        try await blocking("read the batches") { [store] in try store.facts(of: try store.batchIDs()) }
    }

    /// Finds a batch by its id, a unique prefix of its id, or its name. If several batches have this name, returns the
    /// newest.
    /// - Throws: ``DarkroomError`` with the code `noSuchBatch` or `ambiguousName`.
    public func batch(named name: String) async throws -> BatchFacts {
        try await blocking("find batch \"\(name)\"") { [store] in try store.batch(named: name) }
    }

    /// Reads the facts of a batch; nil if the batch is not in Redis.
    public func facts(of id: BatchID) async throws -> BatchFacts? {
        try await blocking("read batch \(id)") { [store] in try store.facts(of: id) }
    }

    /// Reads the states of photos, in the order of the list. The result is shorter if fewer photos are fed, and empty
    /// if the batch is not in Redis.
    /// - Parameters:
    ///   - id: the batch.
    ///   - range: indexes from 0; nil for all photos, at a cost of one byte per photo. Indexes that the batch does not
    ///     have are left out.
    public func photos(of id: BatchID, in range: Range<Int>? = nil) async throws -> [PhotoState] {
        try await blocking("read the photos of batch \(id)") { [store] in
            guard let facts = try store.facts(of: id) else { return [] }
            let all = 0..<facts.photos
            return try store.stateCodes(of: id, in: range?.clamped(to: all) ?? all).map {
                PhotoState(stateCode: $0, of: facts) ?? .failed(.other)
            }
        }
    }

    /// Reads the failed photos, in the order of the list. Redis keeps the details of at most 10,000 failures; the
    /// manifest contains the details of all failures.
    public func failures(of id: BatchID) async throws -> [PhotoFailure] {
        try await blocking("read the failures of batch \(id)") { [store] in
            try store.failures(of: id).compactMap { PhotoFailure(index: $0.index, json: $0.json) }
        }
    }

    /// Reads the operations of a batch. Returns an empty array if the batch is not in Redis.
    /// - Parameters:
    ///   - id: the batch.
    ///   - range: the numbers of the operations, counted from 1; nil for all operations. Numbers that the batch does not have
    ///     are left out.
    public func operations(of id: BatchID, in range: ClosedRange<Int>? = nil) async throws -> [OperationStatus] {
        try await blocking("read the operations of batch \(id)") { [store] in
            guard let facts = try store.facts(of: id) else { return [] }
            guard facts.operations > 0 else { return [] }
            let all = 1...facts.operations, range = range ?? all
            guard range.overlaps(all) else { return [] }
            let valid = range.clamped(to: all)
            // Reads in parts, so that Redis serves other clients between two parts.
            return try stride(from: valid.lowerBound, through: valid.upperBound, by: 1000).flatMap { first in
                try store.operations(of: facts, in: first...min(first + 999, valid.upperBound))
                    .map { OperationStatus($0, of: facts) }
            }
        }
    }

    /// Reads the workers that sent a claim or heartbeat within the last hour; the worker with the most recent claim or
    /// heartbeat is first.
    public func workers() async throws -> [WorkerStatus] {
        try await blocking("read the workers") { [store] in
            let now = try store.time()
            return try store.workers().map { WorkerStatus($0, now: now) }
        }
    }

    /// Reads the flags and limits of the cluster.
    public func cluster() async throws -> ClusterControls {
        try await blocking("read the controls of the cluster") { [store] in try store.clusterControls() }
    }
}

extension PhotoState {
    /// The state with this state code; nil if the code is invalid. In a cancelled batch, every photo that is not final
    /// counts as cancelled, because cancelling does not rewrite state codes.
    package init?(stateCode: UInt8, of batch: BatchFacts) {
        self.init(stateCode: stateCode)
        if batch.cancelled, !isFinal { self = .cancelled }
    }
}
