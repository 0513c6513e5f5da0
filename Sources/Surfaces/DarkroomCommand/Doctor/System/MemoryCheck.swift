import Darkroom

/// The memory that a worker can use.
struct MemoryFacts {
    /// The available memory of the machine in bytes, caches included; nil if unknown.
    var available: Int?
    /// The memory limit of the control group in bytes; nil means no limit.
    var groupLimit: Int?
    /// The memory limit of the process in bytes; nil means no limit.
    var processLimit: Int?

    /// The smallest of these values, with a phrase that names it.
    var least: (bytes: Int, of: String)? {
        [(available, "free on this machine"), (groupLimit, "for this control group"), (processLimit, "by ulimit -v")]
            .compactMap { bytes, name in bytes.map { ($0, name) } }.min { $0.0 < $1.0 }
    }
}

extension MemoryFacts {
    /// The facts about this machine.
    init(_ files: SystemFiles, _ group: ControlGroup) {
        let line = files.text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        available = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
        groupLimit = group.memoryLimit
        let limit = SystemLimits.addressSpace
        processLimit = limit == .max ? nil : limit
    }
}

/// Checks that there is enough memory for a worker.
struct MemoryCheck: Check {
    let facts: MemoryFacts
    let load: WorkerLoad

    var findings: [Finding] {
        guard let least = facts.least else { return [] }
        let found =
            "\(HumanText.bytes(least.bytes)) \(least.of); a worker takes \(HumanText.bytes(load.usualBytes)) with photos of "
            + "12 megapixels, \(HumanText.bytes(load.mostBytes)) at most"
        if least.bytes < load.usualBytes {
            return [.problem("memory", found, "give it more, or lower --filtrations and --max-pixels")]
        }
        if least.bytes < load.mostBytes {
            return [
                .warning(
                    "memory", found,
                    "only many of the largest photos at once use it up: lower --max-download or --max-pixels "
                        + "where strangers write the lists")
            ]
        }
        return [.ok("memory", found)]
    }
}
