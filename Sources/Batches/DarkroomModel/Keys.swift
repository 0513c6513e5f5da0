/// The names of all keys and channels in Redis. Each contains `{<namespace>}`, so that all keys of a script are in one
/// hash slot.
///
/// These names are a public interface, because users read the keys for monitoring.
package struct Keys: Sendable, Hashable {
    package let namespace: String
    /// The prefix of every key: `{<namespace>}:`.
    package let prefix: String

    /// Creates the key names of a namespace.
    /// - Throws: ``InvalidNamespace`` if the name is empty or contains characters other than `A-Z a-z 0-9 _ . -`.
    package init(namespace: String = "darkroom") throws(InvalidNamespace) {
        let allowed = namespace.utf8.allSatisfy { Byte.isAlphanumeric($0) || "_.-".utf8.contains($0) }
        guard allowed, !namespace.isEmpty else { throw InvalidNamespace(namespace: namespace) }
        self.namespace = namespace
        prefix = "{\(namespace)}:"
    }

    /// A hash with the flags, limits and counters of the cluster.
    package var control: String { prefix + "control" }
    /// A sorted set of all batch ids. The score is the time of submission.
    package var batches: String { prefix + "batches" }
    /// The ready queue of a priority: a sorted set of batches with claimable operations. The score is the turn.
    package func ready(_ priority: BatchPriority) -> String { prefix + "ready:\(priority.rawValue)" }
    /// A sorted set of `<batch>/<operation>`. The score is the deadline of the lease, on the lease clock.
    package var leases: String { prefix + "leases" }
    /// A sorted set of batches with deferred operations. The score is the retention clock time at which the first of
    /// these operations is due.
    package var deferred: String { prefix + "deferred" }
    /// A sorted set of worker ids. The score is the time of the last heartbeat.
    package var workers: String { prefix + "workers" }
    /// A hash with the facts that a worker reports about itself, and with its last claim.
    package func worker(_ id: String) -> String { prefix + "worker:\(id)" }
    /// A set of the batches that a worker refuses.
    package func refused(by worker: String) -> String { prefix + "worker:\(worker):refused" }
    /// A hash with the facts that the workers have learned about a host, and with their permits for requests. The hash
    /// expires at most two minutes after its last use, or up to an hour later if the host gets no requests now.
    package func host(_ name: String) -> String { prefix + "host:\(name)" }
    /// A hash with the facts and counters of a batch.
    package func batch(_ id: BatchID) -> String { prefix + "batch:\(id)" }
    /// A string with one state code for each photo.
    package func states(_ id: BatchID) -> String { batch(id) + ":states" }
    /// A hash that maps an operation number to the deflated photos of the operation.
    package func operations(_ id: BatchID) -> String { batch(id) + ":operations" }
    /// A sorted set of the numbers of the queued operations. The score is the number, or, for a deferred operation,
    /// ``deferredScore`` plus the retention clock time at which the operation is due.
    package func queue(_ id: BatchID) -> String { batch(id) + ":queue" }
    /// The score of a deferred operation is this number plus the retention clock time at which the operation is due.
    package static let deferredScore = 1 << 40
    /// A hash that maps an operation number to the operation's worker, fencing token, bytes downloaded and bytes
    /// written.
    package func executing(_ id: BatchID) -> String { batch(id) + ":executing" }
    /// A hash that maps an operation number to the number of the operation's expired leases.
    package func leaseExpiries(_ id: BatchID) -> String { batch(id) + ":lease.expiries" }
    /// A hash that maps an operation number to the download attempts of its photos, as the worker that released the
    /// operation counted them.
    package func retries(_ id: BatchID) -> String { batch(id) + ":retries" }
    /// A hash that maps a photo index to the details of the failure, for at most 10,000 failures.
    package func failures(_ id: BatchID) -> String { batch(id) + ":failures" }
    /// A hash that maps a failure reason to the number of photos that failed for this reason.
    package func reasons(_ id: BatchID) -> String { batch(id) + ":reasons" }
    /// A set of the batches that this batch waits for.
    package func dependencies(_ id: BatchID) -> String { batch(id) + ":dependencies" }
    /// A set of the batches that wait for this batch.
    package func dependents(_ id: BatchID) -> String { batch(id) + ":dependents" }
    /// A hash that maps an output folder to the batch that writes to it.
    package var outputs: String { prefix + "outputs" }
    /// A hash that maps a name to the newest batch with this name.
    package var names: String { prefix + "names" }
    /// A sorted set of the batches that have not finished. The score is the time of submission.
    package var open: String { prefix + "open" }
    /// A sorted set of finished batches. The score is the earliest time at which the batch may be forgotten.
    package var expiring: String { prefix + "expiring" }
    /// A sorted set of the last 10,000 forgotten batches, whose ids cannot be submitted again. The score is the time at
    /// which the batch was forgotten.
    package var forgotten: String { prefix + "forgotten" }
    /// A sorted set of finished batches for which other batches still wait. The score is the time at which the batch
    /// finished.
    package var releases: String { prefix + "releases" }
    /// A sorted set of outstanding webhook calls, `<batch id> <round>`. The score is the time of the next attempt.
    package var webhooks: String { prefix + "webhooks" }
    /// A sorted set of operations of cancelled batches: `<batch id> <operation> <fencing token> <attempt>`. Lost
    /// workers may have left temporary files of these operations. The set contains the latest 1,000. The score is the
    /// time from which a worker tries to remove the files.
    package var staleFiles: String { prefix + "stale.files" }
    /// A hash with the numbers of the photos that have become final in the namespace, and of their bytes. A retried
    /// photo counts again.
    package var totals: String { prefix + "totals" }
    /// A sorted set of samples of the last hour, 10 s apart: `<time> <filtered> <failed> <cancelled> <bytes in> <bytes
    /// out> <queued photos>`. The five numbers in the middle are those of ``totals``. The score is the time.
    package var history: String { prefix + "history" }
    /// A hash with the progress of the check of batches (`Repair.lua`). The hash exists only during a check.
    package var repair: String { prefix + "repair" }
    /// A set of batches that must be checked.
    package var repairWanted: String { prefix + "repair.wanted" }
    /// A hash with the run id of the Redis server whose start led to the last check of all batches, and with the batch
    /// whose counters were compared last.
    package var repairRound: String { prefix + "repair.round" }
    /// The state codes of the batch that is being checked, as they were when its check began.
    package var repairStates: String { prefix + "repair.states" }
    /// The channel of change notices.
    package var controlChannel: String { prefix + "control" }
    /// The channel of all events; see ``BatchEvent``.
    package var eventsChannel: String { prefix + "events" }
}

/// A namespace that is empty or has invalid characters.
package struct InvalidNamespace: Error, CustomStringConvertible {
    package let namespace: String

    package var description: String {
        "namespace \"\(namespace)\": letters, digits, \"_\", \".\" and \"-\" are allowed, and at least one of them"
    }
}
