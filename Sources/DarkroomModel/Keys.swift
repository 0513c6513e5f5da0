/// The names of all keys and channels in Redis. All have the hash tag `{<namespace>}`, so that every script uses one slot.
///
/// These names are a public interface: users read them for monitoring.
package struct Keys: Sendable, Hashable {
    /// The prefix of every key: `{<namespace>}:`.
    package let prefix: String

    /// The keys of a namespace.
    /// - Throws: ``InvalidNamespace`` if the name is empty or has characters other than `A-Z a-z 0-9 _ . -`.
    package init(namespace: String = "darkroom") throws(InvalidNamespace) {
        let allowed = namespace.utf8.allSatisfy { Byte.isAlphanumeric($0) || "_.-".utf8.contains($0) }
        guard allowed, !namespace.isEmpty else { throw InvalidNamespace(namespace: namespace) }
        prefix = "{\(namespace)}:"
    }

    /// A hash: the flags, limits and counters of the cluster.
    package var control: String { prefix + "control" }
    /// A sorted set: batch ids by time of submission.
    package var batches: String { prefix + "batches" }
    /// The ready queue of a priority. A sorted set: ids of batches with claimable operations, by turn.
    package func ready(_ priority: BatchPriority) -> String { prefix + "ready:\(priority.rawValue)" }
    /// A sorted set: `<batch>/<operation>` by deadline on the lease clock.
    package var leases: String { prefix + "leases" }
    /// A sorted set: worker ids by time of the last heartbeat.
    package var workers: String { prefix + "workers" }
    /// A hash: the facts that a worker reports of itself, and its last claim.
    package func worker(_ id: String) -> String { prefix + "worker:\(id)" }
    /// A set: the batches that a worker refuses.
    package func refused(by worker: String) -> String { prefix + "worker:\(worker):refused" }
    /// A hash: the facts and counters of a batch.
    package func batch(_ id: BatchID) -> String { prefix + "batch:\(id)" }
    /// A string: one state code for each photo.
    package func states(_ id: BatchID) -> String { batch(id) + ":states" }
    /// A hash: operation number to the deflated photos of the operation.
    package func operations(_ id: BatchID) -> String { batch(id) + ":operations" }
    /// A sorted set: the numbers of the queued operations.
    package func queue(_ id: BatchID) -> String { batch(id) + ":queue" }
    /// A hash: operation number to worker, fencing token and bytes.
    package func executing(_ id: BatchID) -> String { batch(id) + ":executing" }
    /// A hash: operation number to the number of expired leases.
    package func leaseExpiries(_ id: BatchID) -> String { batch(id) + ":lease.expiries" }
    /// A hash: photo index to the details of the failure, for the first 10,000 failures.
    package func failures(_ id: BatchID) -> String { batch(id) + ":failures" }
    /// A hash: failure reason to the exact number of photos with it.
    package func reasons(_ id: BatchID) -> String { batch(id) + ":reasons" }
    /// A set: the batches that this batch waits for.
    package func dependencies(_ id: BatchID) -> String { batch(id) + ":dependencies" }
    /// A set: the batches that wait for this batch.
    package func dependents(_ id: BatchID) -> String { batch(id) + ":dependents" }
    /// A hash: output folder to the batch that writes to it.
    package var outputs: String { prefix + "outputs" }
    /// A hash: name to the newest batch with that name.
    package var names: String { prefix + "names" }
    /// A sorted set: finished batches by the time at which they will be forgotten.
    package var expiring: String { prefix + "expiring" }
    /// A sorted set: the last 10,000 forgotten batches by the time at which they were forgotten. Their ids are never submitted
    /// again.
    package var forgotten: String { prefix + "forgotten" }
    /// A sorted set: finished batches whose dependents must still be released, by the time at which they finished.
    package var releases: String { prefix + "releases" }
    /// A sorted set: `<batch id> <round>` of outstanding webhook calls by the time of the next attempt.
    package var webhooks: String { prefix + "webhooks" }
    /// A sorted set: `<batch id> <operation> <fencing token> <attempt>` of temporary files that lost workers may have left for
    /// cancelled batches, by the time at which a worker must remove them; the latest 1,000.
    package var staleFiles: String { prefix + "stale.files" }
    /// The channel of change notices.
    package var controlChannel: String { prefix + "control" }
    /// The channel of all events, see ``BatchEvent``.
    package var eventsChannel: String { prefix + "events" }
}

/// A namespace that is empty or has invalid characters.
package struct InvalidNamespace: Error, CustomStringConvertible {
    package let namespace: String

    package var description: String {
        "namespace \"\(namespace)\": letters, digits, \"_\", \".\" and \"-\" are allowed, and at least one of them"
    }
}
