import Darkroom
import Foundation

/// The processor cores that a worker can use.
struct CoreFacts {
    var online: Int
    /// Cores that this process may use (sched_setaffinity(2)).
    var allowed: Int
    /// The CPU limit of the control group, in cores; nil means no limit.
    var quota: Double?
}

extension CoreFacts {
    /// The facts about this machine.
    init(_ group: ControlGroup) {
        online = ProcessInfo.processInfo.processorCount
        allowed = ProcessInfo.processInfo.activeProcessorCount
        quota = group.coreQuota
    }
}

/// Checks that there are enough cores for the concurrent filtrations.
struct CoresCheck: Check {
    let facts: CoreFacts
    let load: WorkerLoad

    var findings: [Finding] {
        var found = "\(facts.allowed) of \(facts.online) may be used"
        var usable = Double(facts.allowed)
        if let quota = facts.quota {
            found += String(format: ", and the control group has the time of %.1f", quota)
            usable = min(usable, quota)
        }
        found += "; \(HumanText.count(load.filtrations, of: "filtration")) at once"
        guard Double(load.filtrations) >= usable + 1 else { return [.ok("cores", found)] }
        return [
            .warning(
                "cores", found,
                "more takes memory and is not faster: --filtrations \(max(1, Int(usable.rounded())))")
        ]
    }
}
