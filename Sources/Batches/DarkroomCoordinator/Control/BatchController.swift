import DarkroomModel
import DarkroomStore

/// Controls batches and the cluster, over all workers: cancel, suspend, prioritize and more.
///
/// The functions block until Redis has stored the change. Any thread may call them. After a function returns, every new
/// claim obeys the change. Workers also apply the change to the operations that they already hold: when they receive
/// the change notice, within milliseconds, or with their next heartbeat if the notice is lost.
///
/// The functions throw ``CoordinatorError`` if the change is refused and `StoreError` if Redis fails. `DarkroomClient`
/// documents their parameters and results, and has asynchronous forms of these functions.
package final class BatchController: Sendable {
    package let store: BatchStore

    private let replicaPatience: Duration
    private let onLack: @Sendable (ReplicaLack) -> Void

    /// Creates a controller for the batches in a store.
    ///
    /// If Redis has replicas, each function also waits until a replica has confirmed the change, so that a failover
    /// does not undo the change.
    /// - Parameters:
    ///   - store: The store of the batches.
    ///   - replicaPatience: The longest wait for a replica.
    ///   - onLack: Called if no replica has confirmed a change within `replicaPatience`. Nevertheless, the function
    ///     that made the change returns normally.
    package init(
        store: BatchStore, replicaPatience: Duration = .seconds(5),
        onLack: @escaping @Sendable (ReplicaLack) -> Void = { _ in }
    ) {
        self.store = store
        self.replicaPatience = replicaPatience
        self.onLack = onLack
    }

    /// If Redis has replicas, blocks until a replica has confirmed all changes, for at most `replicaPatience`.
    package func awaitReplica() throws {
        let durability = Durability(store: store, replicaPatience: replicaPatience)
        guard var lack = try durability.waitForReplicas() else { return }
        lack.subject = .change
        onLack(lack)
    }

    /// Makes a change with one call, and waits for a replica.
    func performChange<Reply>(_ call: ScriptCall<Reply>) throws -> Reply { try performChange([call])[0] }

    /// Makes changes with several calls in one pipeline, and waits for a replica.
    func performChange<Reply>(_ calls: [ScriptCall<Reply>]) throws -> [Reply] {
        let replies = try store.perform(calls)
        try awaitReplica()
        return replies
    }

    /// Cancels a batch: queued photos never start, running photos are stopped, and final photos remain unchanged.
    ///
    /// If the batch has finished and was not cancelled, it remains unchanged, and the reply is `finished`.
    package func cancel(_ id: BatchID, reason: String = "") throws -> CancelReply {
        let reply = try performChange(store.cancel(id, reason: reason))
        if case .gone = reply { throw CoordinatorError.gone(id) }
        return reply
    }

    /// Cancels every batch. Returns the number of batches that this call cancelled.
    ///
    /// If damaged batches cannot be cancelled, cancels all other batches, then throws an error about the first damaged
    /// one.
    package func cancelAll() throws -> Int {
        var cancelled = 0
        var failure: CoordinatorError?
        var rest = try store.batchIDs()[...]
        while !rest.isEmpty {
            let ids = rest.prefix(Self.callsOfAPipeline)
            for (id, result) in zip(ids, store.results(of: ids.map { store.cancel($0) })) {
                switch result {
                case .success(.cancelled(isNew: true, _)): cancelled += 1
                case .success: continue
                case .failure(let error) where error.isPassing: throw error
                case .failure(let error):
                    failure =
                        failure
                        ?? CoordinatorError(
                            .redisRefused,
                            "batch \(id) cannot be cancelled: \(error)", .forget(id))
                }
            }
            rest = rest.dropFirst(Self.callsOfAPipeline)
        }
        try awaitReplica()
        if let failure { throw failure }
        return cancelled
    }

    /// Suspends a batch, or the cluster if `id` is nil.
    package func suspend(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        try changed(performChange(store.suspend(id, part, true)), of: id, "there is nothing left to suspend")
    }

    /// Resumes a batch, or the cluster if `id` is nil. `everything` clears all three flags.
    package func resume(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        let parts = part == .everything ? [.downloads, .filtrations, .everything] : [part]
        let replies = try performChange(parts.map { store.suspend(id, $0, false) })
        return try replies.reduce(false) { isChanged, reply in
            try changed(reply, of: id, "there is nothing left to resume") || isChanged
        }
    }

    /// Changes the priority of a batch. The change affects later claims, but not operations already claimed.
    package func prioritize(_ id: BatchID, _ priority: BatchPriority) throws -> Bool {
        try changed(performChange(store.prioritize(id, priority)), of: id, "there is nothing left to prioritize")
    }

    package func setLimits(downloads: Int?, filtrations: Int?) throws {
        for (limit, bounds, name) in [
            (downloads, ClusterControls.downloadLimits, "downloads"),
            (filtrations, ClusterControls.filtrationLimits, "filtrations"),
        ] {
            guard let limit, !bounds.contains(limit) else { continue }
            throw CoordinatorError(
                .outOfBounds,
                "limit of \(limit) \(name) at once: it can be \(bounds.lowerBound) to \(bounds.upperBound); to stop new ones, "
                    + "suspend them")
        }
        _ = try performChange(store.setLimits(downloads: downloads, filtrations: filtrations))
    }

    package func clearLimits() throws { _ = try performChange(store.clearLimits()) }

    /// The limits and flags of the cluster.
    package func limits() throws -> ClusterControls { try store.clusterControls() }

    /// Removes a batch from Redis. If the batch is unfinished and was not removed, returns its state; otherwise nil.
    package func forget(_ id: BatchID, unfinished: Bool) throws -> BatchState? {
        while true {
            switch try store.perform(store.forget(id, unfinished: unfinished)) {
            case .more: continue
            case .unfinished(let state): return state
            case .forgotten, .gone:
                try awaitReplica()
                return nil
            }
        }
    }

    static let callsOfAPipeline = 100

    /// Returns whether the setting has changed; false if it already had this value. Throws if the change was refused.
    func changed(_ reply: ControlReply, of id: BatchID?, _ nothingLeft: String) throws -> Bool {
        guard let id else {
            guard case .done(let isNew) = reply else { preconditionFailure("the cluster does not finish") }
            return isNew
        }
        switch reply {
        case .done(let isNew): return isNew
        case .finished: throw CoordinatorError.finished(id, nothingLeft)
        case .cancelled: throw CoordinatorError.cancelled(id, nothingLeft)
        case .gone: throw CoordinatorError.gone(id)
        }
    }
}
