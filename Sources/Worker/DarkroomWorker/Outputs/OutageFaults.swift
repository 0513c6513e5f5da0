import DarkroomStorage

/// The storage faults that cause the outages of a worker, by the number of the outage.
struct OutageFaults {
    struct Faults {
        /// The fault that must be gone before the outage is over.
        fileprivate(set) var latest: StorageFault
        /// What is left of files that could not be removed during the outage. It is removed when the outage is over.
        fileprivate(set) var remains: [(check: any StorageCheck, name: String)] = []
    }

    private static let maxRemains = 1000

    private var faults: [Int: Faults] = [:]

    subscript(outage: Int) -> Faults? { faults[outage] }

    /// Adds a fault to an outage. The outage is over when there is room for the largest photo.
    mutating func add(_ fault: StorageFault, _ outage: Int) {
        var known = faults[outage] ?? Faults(latest: fault)
        known.latest.room = max(known.latest.room, fault.room)
        if let remains = fault.remains, known.remains.count < Self.maxRemains {
            known.remains.append((fault.check, remains))
        }
        faults[outage] = known
    }

    /// Another fault now causes an outage.
    mutating func change(_ outage: Int, to fault: StorageFault) { faults[outage]?.latest = fault }

    mutating func end(_ outage: Int) { faults[outage] = nil }
}
