import CSystem

/// What the kernel has to confine helper processes with.
struct ConfinementFacts {
    /// Whether system calls can be filtered (seccomp(2)).
    var filtersCalls: Bool
    /// The version of landlock(7); 0: none.
    var landlock: Int
    /// Whether a process may have user and network namespaces of its own.
    var hasNamespaces: Bool

    init(filtersCalls: Bool, landlock: Int, hasNamespaces: Bool) {
        self.filtersCalls = filtersCalls
        self.landlock = landlock
        self.hasNamespaces = hasNamespaces
    }

    /// Those of this machine, for this user.
    static func found() -> ConfinementFacts {
        let found = csystem_available_confinement()
        return ConfinementFacts(
            filtersCalls: found.has_seccomp, landlock: Int(found.landlock), hasNamespaces: found.has_namespaces)
    }
}

/// Checks which of the confinements for helper processes the kernel offers.
struct ConfinementCheck: Check {
    let facts: ConfinementFacts

    var findings: [Finding] {
        let layers = [
            ("system calls by seccomp", facts.filtersCalls), ("files by Landlock", facts.landlock > 0),
            ("network by namespaces", facts.hasNamespaces),
        ]
        let has = layers.filter(\.1).map(\.0)
        let lacks = layers.filter { !$0.1 }.map(\.0)
        let found =
            "confined here: " + (has.isEmpty ? "nothing" : has.joined(separator: ", "))
            + (lacks.isEmpty ? "" : "; not confined: " + lacks.joined(separator: ", "))
        // It alone keeps files, network and processes from a helper; the others are there in case it has a hole.
        guard facts.filtersCalls else {
            return [
                .warning(
                    "helper processes", found,
                    "a photo that takes over its decoder can do what this user can: use a kernel with CONFIG_SECCOMP_FILTER, "
                        + "on x86-64 or arm64")
            ]
        }
        return [.ok("helper processes", found)]
    }
}
