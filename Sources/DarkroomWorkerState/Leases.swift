import DarkroomStore

/// The operations whose leases this worker renews.
struct Leases {
    /// Operations that run here, in the order of their claims.
    private(set) var local: [HeldOperation] = []
    /// Claimed operations that are not local yet: preparing them accesses disks.
    private var preparing: Set<HeldOperation> = []
    /// Operations that do not run here and must be released.
    private(set) var pendingRelease: Set<HeldOperation> = []

    var all: [HeldOperation] { local + preparing + pendingRelease }

    func isPreparing(_ held: HeldOperation) -> Bool { preparing.contains(held) }

    mutating func claim(_ operations: [HeldOperation]) { preparing.formUnion(operations) }

    /// Makes a preparing operation local. Returns false if it was lost in the meantime.
    mutating func begin(_ held: HeldOperation) -> Bool {
        guard preparing.remove(held) != nil else { return false }
        local.append(held)
        return true
    }

    /// Marks a preparing operation for release, unless it was lost in the meantime.
    mutating func decline(_ held: HeldOperation) {
        if preparing.remove(held) != nil { pendingRelease.insert(held) }
    }

    /// Marks an operation that is no longer local for release.
    mutating func awaitRelease(_ held: HeldOperation) { pendingRelease.insert(held) }

    mutating func remove(_ held: HeldOperation) {
        preparing.remove(held)
        pendingRelease.remove(held)
        local.removeAll { $0 == held }
    }
}
