import CSystem

/// The kernel's means of confining helper processes.
package struct ConfinementFacts: Sendable {
    /// Whether system calls can be filtered (seccomp(2)).
    package var filtersCalls: Bool
    /// The version of landlock(7); 0 if the kernel has none.
    package var landlock: Int
    /// Whether a process may have user and network namespaces of its own.
    package var hasNamespaces: Bool

    package init(filtersCalls: Bool, landlock: Int, hasNamespaces: Bool) {
        self.filtersCalls = filtersCalls
        self.landlock = landlock
        self.hasNamespaces = hasNamespaces
    }

    /// The facts of this machine, for this user.
    package static func found() -> ConfinementFacts {
        let found = csystem_available_confinement()
        return ConfinementFacts(
            filtersCalls: found.has_seccomp, landlock: Int(found.landlock), hasNamespaces: found.has_namespaces)
    }

    /// The layers of the confinement, and whether the kernel offers them.
    package var layers: [(name: String, isThere: Bool)] {
        [
            ("system calls by seccomp", filtersCalls), ("files by Landlock", landlock > 0),
            ("network by namespaces", hasNamespaces),
        ]
    }

    package var missing: [String] { layers.filter { !$0.isThere }.map(\.name) }
}
