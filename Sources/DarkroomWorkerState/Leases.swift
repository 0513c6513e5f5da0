import DarkroomStore

/// The operations whose leases this worker renews.
struct Leases {
    /// Operations that run here, in the order of their claims.
    private(set) var local: [HeldOperation] = []
    /// Claimed and not yet local, which takes as long as a slow disk takes.
    private var preparing: Set<HeldOperation> = []
    /// Not to run here, and to be released.
    private(set) var pendingRelease: Set<HeldOperation> = []

    /// All of them.
    var all: [HeldOperation] { local + preparing + pendingRelease }

    func isPreparing(_ held: HeldOperation) -> Bool { preparing.contains(held) }

    mutating func claim(_ operations: [HeldOperation]) { preparing.formUnion(operations) }

    /// An operation is prepared; false when it was lost meanwhile.
    mutating func begin(_ held: HeldOperation) -> Bool {
        guard preparing.remove(held) != nil else { return false }
        local.append(held)
        return true
    }

    /// An operation that was claimed does not run here, unless it was lost meanwhile.
    mutating func decline(_ held: HeldOperation) {
        if preparing.remove(held) != nil { pendingRelease.insert(held) }
    }

    /// An operation that is no longer local is to be released.
    mutating func awaitRelease(_ held: HeldOperation) { pendingRelease.insert(held) }

    mutating func remove(_ held: HeldOperation) {
        preparing.remove(held)
        pendingRelease.remove(held)
        local.removeAll { $0 == held }
    }
}
