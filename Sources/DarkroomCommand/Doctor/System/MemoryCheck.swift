import Darkroom

/// How much memory there is.
struct MemoryFacts {
    /// What the machine has free, caches included; nil when it does not tell.
    var available: Int?
    /// What the control group may have; nil: no limit.
    var groupLimit: Int?
    /// What the process may have; nil: no limit.
    var processLimit: Int?

    init(available: Int? = nil, groupLimit: Int? = nil, processLimit: Int? = nil) {
        self.available = available
        self.groupLimit = groupLimit
        self.processLimit = processLimit
    }

    /// Those of this machine.
    init(_ files: SystemFiles, _ group: ControlGroup) {
        let line = files.text("/proc/meminfo")?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        available = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
        groupLimit = group.memoryLimit
        let limit = SystemLimits.addressSpace
        processLimit = limit == .max ? nil : limit
    }

    /// The least of all, and whose limit it is.
    var least: (bytes: Int, of: String)? {
        [(available, "free on this machine"), (groupLimit, "for this control group"), (processLimit, "by ulimit -v")]
            .compactMap { bytes, name in bytes.map { ($0, name) } }.min { $0.0 < $1.0 }
    }
}

/// Is there as much memory as a worker may hold?
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
                    "only the largest photos, many at once, can use it up: lower --max-download, --max-pixels or --downloads "
                        + "where strangers write the lists")
            ]
        }
        return [.ok("memory", found)]
    }
}
