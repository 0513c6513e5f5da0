import CSystem

/// Which parts of the confinement of helper processes the kernel supports.
package struct ConfinementFacts: Sendable {
    /// Whether system calls can be restricted with seccomp(2).
    package var filtersCalls: Bool
    /// The version of landlock(7); 0 if the kernel does not support Landlock.
    package var landlock: Int
    /// Whether a process can have its own user and network namespaces.
    package var hasNamespaces: Bool

    package init(filtersCalls: Bool, landlock: Int, hasNamespaces: Bool) {
        self.filtersCalls = filtersCalls
        self.landlock = landlock
        self.hasNamespaces = hasNamespaces
    }

    /// Returns the parts that this machine supports for this user.
    package static func found() -> ConfinementFacts {
        let found = csystem_available_confinement()
        return ConfinementFacts(
            filtersCalls: found.has_seccomp, landlock: Int(found.landlock), hasNamespaces: found.has_namespaces)
    }

    /// The layers of the confinement, and whether the kernel supports them.
    package var layers: [(name: String, isThere: Bool)] {
        [
            ("system calls by seccomp", filtersCalls), ("files by Landlock", landlock > 0),
            ("network by namespaces", hasNamespaces),
        ]
    }

    package var missing: [String] { layers.filter { !$0.isThere }.map(\.name) }
}
