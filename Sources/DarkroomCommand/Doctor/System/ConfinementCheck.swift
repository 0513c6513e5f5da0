import Darkroom
import DarkroomExecution
import DarkroomWorker

/// Checks which of the confinements for helper processes the kernel offers.
struct ConfinementCheck: Check {
    let facts: ConfinementFacts

    var findings: [Finding] {
        let has = facts.layers.filter(\.isThere).map(\.name)
        let lacks = facts.missing
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
