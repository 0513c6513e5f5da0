import DarkroomModel
import DarkroomStorage

/// The storage faults that cause the outages of a worker, stored under the numbers of the outages.
struct OutageFaults {
    struct Faults {
        /// The fault that must be gone before the outage is over.
        fileprivate(set) var latest: StorageFault
        /// The batch that had ``latest``.
        let batch: BatchID
        /// Temporary files that could not be removed during the outage. They are removed when the outage is over.
        fileprivate(set) var remains: [(check: any StorageCheck, path: String)] = []
    }

    private static let maxRemains = 1000

    private var faults: [Int: Faults] = [:]

    subscript(outage: Int) -> Faults? { faults[outage] }

    /// Adds a fault to an outage. The outage is over only when there is room for the largest photo of its faults.
    /// - Parameter begins: whether the outage began with this fault. If false, the fault is ignored if the outage is
    ///   over or its first fault has not been added yet.
    mutating func add(_ fault: StorageFault, of batch: BatchID, to outage: Int, begins: Bool) {
        if begins { faults[outage] = Faults(latest: fault, batch: batch) }
        guard var known = faults[outage] else { return }
        known.latest.room = max(known.latest.room, fault.room)
        if let remains = fault.remains, known.remains.count < Self.maxRemains {
            known.remains.append((fault.check, remains))
        }
        faults[outage] = known
    }

    /// Replaces the fault that causes an outage.
    mutating func change(_ outage: Int, to fault: StorageFault) { faults[outage]?.latest = fault }

    mutating func end(_ outage: Int) { faults[outage] = nil }
}
