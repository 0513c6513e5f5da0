import DarkroomModel

/// The operations whose leases this worker renews.
struct Leases {
    /// Operations that run in this worker, in the order of their claims.
    private(set) var local: [HeldOperation] = []
    /// Claimed operations that the worker is preparing, with the times of their claims. The preparation accesses disks.
    private var preparing: [HeldOperation: ContinuousClock.Instant] = [:]
    /// Operations that do not run in this worker and must be released.
    private(set) var pendingRelease: Set<HeldOperation> = []

    var all: [HeldOperation] { local + preparing.keys + pendingRelease }

    var count: Int { local.count + preparing.count + pendingRelease.count }

    func isPreparing(_ held: HeldOperation) -> Bool { preparing.keys.contains(held) }

    /// Whether the worker is preparing an operation for which `isMeant` returns true.
    func isPreparing(where isMeant: (HeldOperation) -> Bool) -> Bool { preparing.keys.contains(where: isMeant) }

    mutating func claim(_ operations: [HeldOperation], at time: ContinuousClock.Instant) {
        for held in operations { preparing[held] = time }
    }

    /// Makes an operation local after its preparation.
    /// - Returns: the time of the claim; nil if the operation was lost during its preparation.
    mutating func begin(_ held: HeldOperation) -> ContinuousClock.Instant? {
        guard let claimed = preparing.removeValue(forKey: held) else { return nil }
        local.append(held)
        return claimed
    }

    /// Marks an operation for release after its preparation has failed, unless the operation is lost already.
    mutating func decline(_ held: HeldOperation) {
        if preparing.removeValue(forKey: held) != nil { pendingRelease.insert(held) }
    }

    /// Marks an operation that is no longer local for release.
    mutating func awaitRelease(_ held: HeldOperation) { pendingRelease.insert(held) }

    mutating func remove(_ held: HeldOperation) {
        preparing[held] = nil
        pendingRelease.remove(held)
        if let place = local.firstIndex(of: held) { local.remove(at: place) }
    }
}
