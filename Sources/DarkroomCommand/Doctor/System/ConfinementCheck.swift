import Darkroom
import DarkroomExecution
import DarkroomWorker

/// Checks which confinements for helper processes the kernel supports.
struct ConfinementCheck: Check {
    let facts: ConfinementFacts

    var findings: [Finding] {
        let has = facts.layers.filter(\.isThere).map(\.name)
        let lacks = facts.missing
        let found =
            "confined here: " + (has.isEmpty ? "nothing" : has.joined(separator: ", "))
            + (lacks.isEmpty ? "" : "; not confined: " + lacks.joined(separator: ", "))
        // seccomp alone keeps a helper from files, network and processes. The other confinements are a second defence.
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
