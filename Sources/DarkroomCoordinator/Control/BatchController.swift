import DarkroomModel
import DarkroomStore

/// Controls batches and the cluster, over all workers: cancel, suspend, prioritize and more.
///
/// The functions block until the change is in Redis. Any thread may call them. Workers receive a change notice within
/// milliseconds. If the notice is lost, they apply the change with their next heartbeat. After a function returns, no
/// worker starts work that violates the change.
/// The functions throw ``ControlError`` if the change is refused, and `StoreError` if Redis fails.
package final class BatchController: Sendable {
    /// The store of the batches.
    package let store: BatchStore

    private let replicaPatience: Duration
    private let onLack: @Sendable (ReplicaLack) -> Void

    /// Creates a controller for the batches in a store.
    ///
    /// If Redis has replicas, each function also waits until a replica has confirmed the change, so that a failover
    /// does not undo the change.
    /// - Parameters:
    ///   - store: The store of the batches.
    ///   - onLack: Called if no replica has confirmed a change within 5 s. In this case the function returns normally.
    package convenience init(store: BatchStore, onLack: @escaping @Sendable (ReplicaLack) -> Void = { _ in }) {
        self.init(store: store, replicaPatience: .seconds(5), onLack: onLack)
    }

    init(store: BatchStore, replicaPatience: Duration, onLack: @escaping @Sendable (ReplicaLack) -> Void) {
        self.store = store
        self.replicaPatience = replicaPatience
        self.onLack = onLack
    }

    /// If Redis has replicas, blocks until a replica has confirmed all changes of this store, at most for 5 s.
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
    /// The call is idempotent. A batch that has already finished without being cancelled remains unchanged; the reply
    /// is then `finished`.
    /// - Parameter id: The batch.
    /// - Parameter reason: Why the batch was cancelled; part of the facts of the batch. May be empty.
    /// - Returns: `cancelled` or `finished`. If the batch is not in Redis, throws.
    package func cancel(_ id: BatchID, reason: String = "") throws -> CancelReply {
        let reply = try performChange(store.cancel(id, reason: reason))
        if case .gone = reply { throw ControlError.gone(id) }
        return reply
    }

    /// Cancels all unfinished batches.
    /// - Returns: the number of batches that this call cancelled.
    package func cancelAll() throws -> Int {
        var cancelled = 0
        var rest = try store.batchIDs()[...]
        while !rest.isEmpty {
            let replies = try store.perform(rest.prefix(Self.callsOfAPipeline).map { store.cancel($0) })
            cancelled += replies.count { reply in
                if case .cancelled(isNew: true, _) = reply { true } else { false }
            }
            rest = rest.dropFirst(Self.callsOfAPipeline)
        }
        try awaitReplica()
        return cancelled
    }

    /// Suspends a batch or the cluster: no further download or filtration starts. Running downloads and filtrations
    /// are completed.
    /// - Parameter id: The batch; nil for the cluster.
    /// - Parameter part: `everything`, or only downloads or filtrations. The three flags are independent of each other.
    /// - Returns: false if the flag was already set.
    package func suspend(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        try changed(performChange(store.suspend(id, part, true)), of: id, "there is nothing left to suspend")
    }

    /// Resumes a batch or the cluster.
    /// - Parameter id: The batch; nil for the cluster.
    /// - Parameter part: the flag to clear. `everything` clears all three flags.
    /// - Returns: false if none of these flags was set.
    package func resume(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        let parts = part == .everything ? [.downloads, .filtrations, .everything] : [part]
        let replies = try performChange(parts.map { store.suspend(id, $0, false) })
        return try replies.reduce(false) { isChanged, reply in
            try changed(reply, of: id, "there is nothing left to resume") || isChanged
        }
    }

    /// Changes the priority of a batch. The change affects later claims, but not operations already claimed.
    /// - Returns: false if the batch already had this priority.
    package func prioritize(_ id: BatchID, _ priority: BatchPriority) throws -> Bool {
        try changed(performChange(store.prioritize(id, priority)), of: id, "there is nothing left to prioritize")
    }

    /// Removes a batch from Redis. Files that it has written remain.
    /// - Parameter unfinished: Whether the batch is removed even if it has not finished.
    /// - Returns: nil if the batch was removed; the state of the batch if it was not removed because it is unfinished.
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

    /// The maximum number of calls in one pipeline.
    static let callsOfAPipeline = 100

    /// Whether the reply reports a change. Throws if the change was refused.
    func changed(_ reply: ControlReply, of id: BatchID?, _ nothingLeft: String) throws -> Bool {
        guard let id else {
            guard case .done(let isNew) = reply else { preconditionFailure("the cluster does not finish") }
            return isNew
        }
        switch reply {
        case .done(let isNew): return isNew
        case .finished: throw ControlError.finished(id, nothingLeft)
        case .cancelled: throw ControlError.cancelled(id, nothingLeft)
        case .gone: throw ControlError.gone(id)
        }
    }
}
