import Darkroom
import DarkroomWorker

/// Checks to what extent the kernel can confine helper processes.
struct ConfinementCheck: Check {
    let facts: ConfinementFacts

    var findings: [Finding] {
        let has = facts.layers.filter(\.isThere).map(\.name)
        let lacks = facts.missing
        let found =
            "confined here: " + (has.isEmpty ? "nothing" : has.joined(separator: ", "))
            + (lacks.isEmpty ? "" : "; not confined: " + lacks.joined(separator: ", "))
        // seccomp alone is sufficient to deny a helper access to files, the network and other processes. The other
        // mechanisms are a second protection, in case seccomp has a vulnerability.
        guard facts.filtersCalls else {
            return [
                .warning(
                    "helper processes", found,
                    "a photo that takes over its decoder has all rights of this user: use a kernel with CONFIG_SECCOMP_FILTER, "
                        + "on x86-64 or arm64")
            ]
        }
        return [.ok("helper processes", found)]
    }
}
