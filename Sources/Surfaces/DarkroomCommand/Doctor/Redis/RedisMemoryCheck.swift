import Darkroom
import DarkroomRedis
import DarkroomStore

/// Checks that Redis has memory for batches and does not evict keys when memory is full.
struct RedisMemoryCheck: Check {
    let information: ServerInformation

    /// The memory of a full window of one batch: 10,000 operations of 50 photos with about 110 bytes each.
    private static let windowBytes = 64_000_000

    var findings: [Finding] { [policy, memory] }

    private var policy: Finding {
        let check = "Redis eviction"
        guard let lack = RedisRequirements.evictionLack(information) else {
            return .ok(check, "maxmemory-policy \(information["maxmemory_policy"] ?? "noeviction")")
        }
        let advice = "\(lack.meaning); \(lack.advice)"
        return lack.isHindrance ? .problem(check, lack.found, advice) : .warning(check, lack.found, advice)
    }

    private var memory: Finding {
        let check = "Redis memory"
        let used = information.int("used_memory") ?? 0
        let limit = information.int("maxmemory") ?? 0
        guard limit > 0 else { return unlimited(check, used) }
        let left = limit - used
        let found = "\(HumanText.bytes(max(0, left))) left of maxmemory \(HumanText.bytes(limit))"
        if left <= 0 {
            return .problem(
                check, found, "nothing can be submitted until there is room: raise maxmemory, or forget batches")
        }
        if left < Self.windowBytes {
            return .warning(
                check, found,
                "the queue of a large batch takes up to \(HumanText.bytes(Self.windowBytes)): raise maxmemory, or submit "
                    + "with a smaller --window")
        }
        return .ok(check, found)
    }

    private func unlimited(_ check: String, _ used: Int) -> Finding {
        let system = information.int("total_system_memory") ?? 0
        let found = "\(HumanText.bytes(used)) used, no maxmemory, machine of \(HumanText.bytes(system))"
        guard system > 0, used > system / 10 * 7 else { return .ok(check, found) }
        return .warning(
            check, found,
            "the kernel kills a Redis that uses all memory: forget batches, or set maxmemory so that it refuses first")
    }
}
