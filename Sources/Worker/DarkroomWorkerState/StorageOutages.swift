import DarkroomModel

/// A time during which files of some batches cannot be written.
package struct StorageOutage: Sendable, Equatable {
    /// The number of the outage, unique in this worker.
    package let number: Int
    /// The batch that had the fault first.
    let batch: BatchID
    /// Why the batches cannot run.
    package fileprivate(set) var refusal: Refusal
    /// The storage that fails as a whole; nil if only ``batch`` waits.
    fileprivate(set) var domain: StorageDomain?
    package fileprivate(set) var batches: Set<BatchID>
    /// The time since which the worker has had no operation of the waiting batches; nil if it has such an operation.
    fileprivate var unusedSince: ContinuousClock.Instant?
}

/// The storage outages of a worker.
struct StorageOutages {
    private(set) var all: [StorageOutage] = []
    private var last = 0

    /// An outage is removed if the worker has had no operation of its batches for this long, because the batches may
    /// have ended.
    private static let maxUnused = Duration.seconds(600)

    func blocks(_ id: BatchID) -> Bool { all.contains { $0.batches.contains(id) } }

    /// The batches whose output cannot be written now.
    var refusals: [BatchID: Refusal] {
        var refusals: [BatchID: Refusal] = [:]
        for outage in all {
            for batch in outage.batches where refusals[batch] == nil { refusals[batch] = outage.refusal }
        }
        return refusals
    }

    /// Adds a fault to an existing outage or to a new one.
    /// - Parameter others: the other batches that write to the domain.
    /// - Returns: the number of the outage, the batches that did not wait before, and whether the outage is new.
    mutating func add(
        _ refusal: Refusal, of batch: BatchID, domain: StorageDomain?, others: Set<BatchID>
    ) -> (number: Int, batches: Set<BatchID>, isNew: Bool) {
        let ids = others.union([batch])
        let known = all.firstIndex { domain != nil ? $0.domain == domain : $0.batches.contains(batch) }
        if known == nil {
            last += 1
            all.append(StorageOutage(number: last, batch: batch, refusal: refusal, domain: domain, batches: []))
        }
        let place = known ?? all.count - 1
        let added = ids.subtracting(all[place].batches)
        all[place].batches.formUnion(ids)
        return (all[place].number, added, known == nil)
    }

    /// Records that a batch writes to these domains. Returns the reason to wait; nil if the domains have no known
    /// fault.
    mutating func add(_ id: BatchID, domains: Set<StorageDomain>) -> Refusal? {
        guard let place = all.firstIndex(where: { $0.domain.map(domains.contains) ?? false }) else { return nil }
        all[place].batches.insert(id)
        return all[place].refusal
    }

    /// Replaces the cause of an outage.
    /// - Parameter domain: nil if the new cause affects only the batch that had the fault first.
    /// - Returns: the batches that the new cause does not affect and that no longer wait.
    mutating func change(_ number: Int, to refusal: Refusal, domain: StorageDomain?) -> Set<BatchID> {
        guard let place = all.firstIndex(where: { $0.number == number }) else { return [] }
        all[place].refusal = refusal
        guard all[place].domain != nil, domain == nil else { return [] }
        let others = all[place].batches.subtracting([all[place].batch])
        all[place].domain = nil
        all[place].batches.subtract(others)
        return others
    }

    /// Ends an outage, and returns the batches that waited.
    mutating func remove(_ number: Int) -> Set<BatchID> {
        guard let place = all.firstIndex(where: { $0.number == number }) else { return [] }
        return all.remove(at: place).batches
    }

    /// Removes the outages whose batches have had no operation in this worker for a long time, and returns their numbers.
    mutating func forgetUnused(now: ContinuousClock.Instant, isUsed: (BatchID) -> Bool) -> [Int] {
        for place in all.indices {
            all[place].unusedSince = all[place].batches.contains(where: isUsed) ? nil : all[place].unusedSince ?? now
        }
        let unused = all.filter { $0.unusedSince.map { now - $0 >= Self.maxUnused } ?? false }.map(\.number)
        all.removeAll { unused.contains($0.number) }
        return unused
    }
}

/// Handles outputs that temporarily cannot be written. The worker holds the photos of the affected batches, and
/// releases their operations after a while, because other workers may be able to write.
extension WorkerState {
    mutating func outputOpened(_ id: BatchID, _ domains: Set<StorageDomain>, _ effects: inout [Effect]) {
        guard let refusal = outages.add(id, domains: domains) else { return }
        applyHolds([id], &effects)
        effects.append(.outputBlocked(refusal))
    }

    mutating func storageFault(
        _ id: BatchID, _ refusal: Refusal, _ domain: StorageDomain?, _ effects: inout [Effect]
    ) {
        let others = domain.map { domain in
            Set(operations.values.filter { $0.domains.contains(domain) }.map(\.held.batch))
        }
        let outage = outages.add(refusal, of: id, domain: domain, others: others ?? [])
        applyHolds(outage.batches, &effects)
        effects.append(.outage(outage.number, beganFor: outage.isNew ? outage.batches.count : nil))
    }

    mutating func checkStorage(_ now: ContinuousClock.Instant, _ effects: inout [Effect]) {
        effects += outages.forgetUnused(now: now) { batches[$0] != nil }.map(Effect.outageEnded)
        effects += outages.all.map(Effect.checkStorage)
    }
}
