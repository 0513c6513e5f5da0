import DarkroomModel
import DarkroomStore

/// Steers batches and the cluster: what the operation queue of one device has for its operations, over all workers.
///
/// The functions block until Redis has what was changed; any thread may call them. Workers learn of it within
/// milliseconds, or with their next heartbeat when the message is lost; nothing begins against it from the return on.
/// They throw ``ControlError`` when what is asked is refused, `StoreError` when Redis fails.
package final class BatchController: Sendable {
    /// What it steers.
    package let store: BatchStore

    private let replicaPatience: Duration
    private let onLack: @Sendable (ReplicaLack) -> Void

    /// Steers what is in a store.
    ///
    /// Where Redis has replicas, each function returns when one of them has the change, too, so that a failover does not
    /// undo it.
    /// - Parameters:
    ///   - store: What it steers.
    ///   - onLack: Called when no replica has confirmed a change within 5 s. The function then returns all the same.
    package convenience init(store: BatchStore, onLack: @escaping @Sendable (ReplicaLack) -> Void = { _ in }) {
        self.init(store: store, replicaPatience: .seconds(5), onLack: onLack)
    }

    init(store: BatchStore, replicaPatience: Duration, onLack: @escaping @Sendable (ReplicaLack) -> Void) {
        self.store = store
        self.replicaPatience = replicaPatience
        self.onLack = onLack
    }

    /// If Redis has replicas, blocks until one of them has all changes made through the store, or 5 s are over.
    package func awaitReplica() throws {
        let durability = Durability(store: store, replicaPatience: replicaPatience)
        guard var lack = try durability.waitForReplicas() else { return }
        lack.subject = .change
        onLack(lack)
    }

    /// Performs a call that changes something.
    func steer<Reply>(_ call: ScriptCall<Reply>) throws -> Reply { try steer([call])[0] }

    /// Performs calls that change something in one pipeline.
    func steer<Reply>(_ calls: [ScriptCall<Reply>]) throws -> [Reply] {
        let replies = try store.perform(calls)
        try awaitReplica()
        return replies
    }

    /// Cancels a batch: what of it has not begun never will, what runs is stopped, what is done stays. For good.
    ///
    /// Repeating it does no harm. A batch that is over, and not by a cancel, stays as it is, and the reply says so.
    /// - Parameter id: The batch.
    /// - Parameter reason: why, for those who look at the batch; may be empty.
    /// - Returns: `cancelled` or `finished`; a batch that is gone is an error.
    package func cancel(_ id: BatchID, reason: String = "") throws -> CancelReply {
        let reply = try steer(store.cancel(id, reason: reason))
        if case .gone = reply { throw ControlError.gone(id) }
        return reply
    }

    /// Cancels every batch that there is.
    /// - Returns: how many had not finished and were not cancelled before.
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

    /// Suspends a batch, or the cluster when none is named: no download and no filtration of it begins from now on. What
    /// runs goes on to its end.
    /// - Parameter id: The batch.
    /// - Parameter part: `everything`, or only downloads or filtrations; the three are independent of each other.
    /// - Returns: false when it was suspended so before.
    package func suspend(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        try changed(steer(store.suspend(id, part, true)), of: id, "there is nothing left to suspend")
    }

    /// Lets a batch, or the cluster, go on.
    /// - Parameter id: The batch.
    /// - Parameter part: `everything` lifts whatever is suspended, also when only a part was.
    /// - Returns: false when nothing of it was suspended.
    package func resume(_ id: BatchID?, _ part: QueuePart = .everything) throws -> Bool {
        let parts = part == .everything ? [.downloads, .filtrations, .everything] : [part]
        let replies = try steer(parts.map { store.suspend(id, $0, false) })
        return try replies.reduce(false) { isChanged, reply in
            try changed(reply, of: id, "there is nothing left to resume") || isChanged
        }
    }

    /// Makes a batch more or less urgent, from the next claim on, everywhere. What is claimed already runs as it would.
    /// - Returns: false when it had the priority before.
    package func prioritize(_ id: BatchID, _ priority: BatchPriority) throws -> Bool {
        try changed(steer(store.prioritize(id, priority)), of: id, "there is nothing left to prioritize")
    }

    /// Removes a batch from Redis; its photos stay.
    /// - Parameter unfinished: removes it also if it has not finished.
    /// - Returns: nil, or the state of a batch that was not removed because it has not finished.
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

    /// How many calls are sent at once.
    static let callsOfAPipeline = 100

    /// Whether something was changed.
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
