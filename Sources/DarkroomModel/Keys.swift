/// The names of everything in Redis, all with one hash tag, `{<namespace>}`, so that every script works on one slot.
///
/// These names are a public interface: people monitor through them.
package struct Keys: Sendable, Hashable {
    /// What every key begins with: `{<namespace>}:`.
    package let prefix: String

    /// The keys of a namespace.
    /// - Throws: ``InvalidNamespace`` when the name has characters other than `A-Z a-z 0-9 _ . -`, or none.
    package init(namespace: String = "darkroom") throws(InvalidNamespace) {
        let allowed = namespace.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || [45, 46, 95].contains($0)
        }
        guard allowed, !namespace.isEmpty else { throw InvalidNamespace(namespace: namespace) }
        prefix = "{\(namespace)}:"
    }

    /// Cluster-wide flags, limits and counters: a hash.
    package var control: String { prefix + "control" }
    /// Batch ids by time of submission: a sorted set.
    package var batches: String { prefix + "batches" }
    /// The ring of a priority: batch ids that have operations to hand out, by turn: a sorted set.
    package func ready(_ priority: BatchPriority) -> String { prefix + "ready:\(priority.rawValue)" }
    /// `<batch>/<operation>` by deadline in attended time: a sorted set.
    package var leases: String { prefix + "leases" }
    /// Worker ids by last heartbeat: a sorted set.
    package var workers: String { prefix + "workers" }
    /// What a worker says of itself, and its last claim: a hash.
    package func worker(_ id: String) -> String { prefix + "worker:\(id)" }
    /// The batches that a worker refuses: a set.
    package func refused(by worker: String) -> String { prefix + "worker:\(worker):refused" }
    /// The facts and counters of a batch: a hash.
    package func batch(_ id: BatchID) -> String { prefix + "batch:\(id)" }
    /// One state code a photo: a string.
    package func states(_ id: BatchID) -> String { batch(id) + ":states" }
    /// Operation number to its deflated photos: a hash.
    package func operations(_ id: BatchID) -> String { batch(id) + ":operations" }
    /// Numbers of the operations not handed out: a sorted set.
    package func queue(_ id: BatchID) -> String { batch(id) + ":queue" }
    /// Operation number to worker, fencing token and bytes: a hash.
    package func executing(_ id: BatchID) -> String { batch(id) + ":executing" }
    /// Operation number to the number of its leases that have expired: a hash.
    package func leaseExpiries(_ id: BatchID) -> String { batch(id) + ":lease.expiries" }
    /// Photo index to what failed, the first 10,000: a hash.
    package func failures(_ id: BatchID) -> String { batch(id) + ":failures" }
    /// Reason to the number of photos that failed for it, exact: a hash.
    package func reasons(_ id: BatchID) -> String { batch(id) + ":reasons" }
    /// The batches that this one waits for: a set.
    package func dependencies(_ id: BatchID) -> String { batch(id) + ":dependencies" }
    /// The batches that wait for this one: a set.
    package func dependents(_ id: BatchID) -> String { batch(id) + ":dependents" }
    /// Output folder to the batch that writes there: a hash.
    package var outputs: String { prefix + "outputs" }
    /// Name to the newest batch of that name: a hash.
    package var names: String { prefix + "names" }
    /// Finished batches by the time at which they are forgotten: a sorted set.
    package var expiring: String { prefix + "expiring" }
    /// Batches that were forgotten, the newest 10,000, by when: a sorted set. Their ids are never submitted again.
    package var forgotten: String { prefix + "forgotten" }
    /// Finished batches whose dependents are to be released, by the time at which they finished: a sorted set.
    package var releases: String { prefix + "releases" }
    /// `<batch id> <round>` of webhooks that are to be called, by next attempt: a sorted set.
    package var webhooks: String { prefix + "webhooks" }
    /// `<batch id> <operation> <fencing token> <attempt>` of temporary files that dead workers may have left of cancelled batches, by when a
    /// worker is asked to remove them, the latest 1,000: a sorted set.
    package var staleFiles: String { prefix + "stale.files" }
    /// The channel of hints that something changed.
    package var controlChannel: String { prefix + "control" }
    /// The channel of every change: what key-value observing is on one device.
    package var eventsChannel: String { prefix + "events" }
}

/// A namespace with characters that no namespace may have.
package struct InvalidNamespace: Error, CustomStringConvertible {
    /// What was given.
    package let namespace: String

    /// What is wrong and what is allowed.
    package var description: String {
        "namespace \"\(namespace)\": letters, digits, \"_\", \".\" and \"-\" are allowed, and at least one of them"
    }
}
