import DarkroomStore

/// The operations whose leases this worker renews.
struct Leases {
    /// Operations that run in this worker, in the order of their claims.
    private(set) var local: [HeldOperation] = []
    /// Claimed operations that the worker is still preparing, which requires access to disks.
    private var preparing: Set<HeldOperation> = []
    /// Operations that do not run in this worker and must be released.
    private(set) var pendingRelease: Set<HeldOperation> = []

    var all: [HeldOperation] { local + preparing + pendingRelease }

    func isPreparing(_ held: HeldOperation) -> Bool { preparing.contains(held) }

    mutating func claim(_ operations: [HeldOperation]) { preparing.formUnion(operations) }

    /// Makes an operation local after its preparation. Returns false if the operation was lost in the meantime.
    mutating func begin(_ held: HeldOperation) -> Bool {
        guard preparing.remove(held) != nil else { return false }
        local.append(held)
        return true
    }

    /// Marks an operation for release after its preparation has failed, unless the operation was lost in the meantime.
    mutating func decline(_ held: HeldOperation) {
        if preparing.remove(held) != nil { pendingRelease.insert(held) }
    }

    /// Marks an operation that is no longer local for release.
    mutating func awaitRelease(_ held: HeldOperation) { pendingRelease.insert(held) }

    mutating func remove(_ held: HeldOperation) {
        preparing.remove(held)
        pendingRelease.remove(held)
        if let place = local.firstIndex(of: held) { local.remove(at: place) }
    }
}
