import DarkroomModel

/// A condition of this machine, such as a full disk, that temporarily prevents the writing of files. It does not count
/// as a failure of a photo.
package protocol StorageFault: Sendable {
    /// The cause of the fault, and the remedy.
    var detail: String { get }
    /// Whether the fault affects all files on the same file system.
    var isOfDevice: Bool { get }
    /// The number of bytes that must be free before the fault counts as gone.
    var bytes: Int { get set }
}

/// A storage fault, and the batches that wait until it is gone.
package struct StorageOutage: Sendable {
    /// The number of the outage, unique in this worker.
    package let number: Int
    /// The batch that had the fault first.
    let batch: BatchID
    package fileprivate(set) var fault: any StorageFault
    /// The device number of the file system, if the fault affects all files on it.
    fileprivate(set) var device: UInt?
    package fileprivate(set) var batches: Set<BatchID>
    /// Temporary files that could not be removed during the outage, each with the fault of its folder. They are removed
    /// when the outage is over.
    package fileprivate(set) var staleFiles: [(fault: any StorageFault, path: String)] = []
    /// Since when the worker has had no operation of the waiting batches; nil if it has one.
    fileprivate var unusedSince: ContinuousClock.Instant?
}

/// The storage outages of a worker.
struct StorageOutages {
    private(set) var all: [StorageOutage] = []
    private var last = 0

    private static let maxStaleFiles = 1000
    /// An outage is removed if the worker has had no operation of its batches for this long, because the batches may
    /// have ended.
    private static let maxUnused = Duration.seconds(600)

    func blocks(_ id: BatchID) -> Bool { all.contains { $0.batches.contains(id) } }

    /// The batches whose output cannot be written now, with the cause.
    var reasons: [BatchID: String] {
        var reasons: [BatchID: String] = [:]
        for outage in all {
            for batch in outage.batches where reasons[batch] == nil { reasons[batch] = outage.fault.detail }
        }
        return reasons
    }

    /// Adds a fault to an existing outage or to a new one.
    /// - Returns: the batches that did not wait before, and whether the outage is new.
    mutating func add(
        _ fault: any StorageFault, of batch: BatchID, device: UInt?, others: Set<BatchID>, staleFile: String?
    ) -> (batches: Set<BatchID>, isNew: Bool) {
        let ids = others.union([batch])
        let known = all.firstIndex { device != nil ? $0.device == device : $0.batches.contains(batch) }
        if known == nil {
            last += 1
            all.append(StorageOutage(number: last, batch: batch, fault: fault, device: device, batches: []))
        }
        let place = known ?? all.count - 1
        let added = ids.subtracting(all[place].batches)
        all[place].batches.formUnion(ids)
        all[place].fault.bytes = max(all[place].fault.bytes, fault.bytes)
        if let staleFile, all[place].staleFiles.count < Self.maxStaleFiles {
            all[place].staleFiles.append((fault, staleFile))
        }
        return (added, known == nil)
    }

    /// Records that a batch writes to a file system. Returns why the batch must wait; nil if there is no known fault.
    mutating func add(_ id: BatchID, device: UInt) -> String? {
        guard let place = all.firstIndex(where: { $0.device == device }) else { return nil }
        all[place].batches.insert(id)
        return all[place].fault.detail
    }

    /// Replaces the fault of an outage.
    /// - Returns: the batches that the new fault does not affect and that no longer wait.
    mutating func change(_ number: Int, to fault: any StorageFault) -> Set<BatchID> {
        guard let place = all.firstIndex(where: { $0.number == number }) else { return [] }
        all[place].fault = fault
        guard all[place].device != nil, !fault.isOfDevice else { return [] }
        let others = all[place].batches.subtracting([all[place].batch])
        all[place].device = nil
        all[place].batches.subtract(others)
        return others
    }

    /// Ends an outage, and returns the batches that waited.
    mutating func remove(_ number: Int) -> Set<BatchID> {
        guard let place = all.firstIndex(where: { $0.number == number }) else { return [] }
        return all.remove(at: place).batches
    }

    /// Removes the outages whose batches have had no operation in this worker for a long time.
    mutating func forgetUnused(now: ContinuousClock.Instant, isUsed: (BatchID) -> Bool) {
        for place in all.indices {
            all[place].unusedSince = all[place].batches.contains(where: isUsed) ? nil : all[place].unusedSince ?? now
        }
        all.removeAll { $0.unusedSince.map { now - $0 >= Self.maxUnused } ?? false }
    }
}

/// Handles outputs that temporarily cannot be written. The worker holds the photos of the affected batches, and
/// releases their operations after a while, because other workers may be able to write.
extension WorkerState {
    mutating func outputOpened(_ id: BatchID, _ device: UInt, _ effects: inout [Effect]) {
        guard let reason = outages.add(id, device: device) else { return }
        applyHolds([id], &effects)
        effects.append(.outputBlocked(reason))
    }

    mutating func checkStorage(_ now: ContinuousClock.Instant, _ effects: inout [Effect]) {
        outages.forgetUnused(now: now) { batches[$0] != nil }
        effects += outages.all.map(Effect.checkStorage)
    }
}
