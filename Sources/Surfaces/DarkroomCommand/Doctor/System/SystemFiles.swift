import DarkroomFiles
import Foundation

/// Reads files in which the kernel publishes settings and limits: proc(5), cgroups(7).
struct SystemFiles {
    /// The prefix of all paths; tests set another folder.
    var root = ""

    /// The text of a file; nil if the file does not exist or cannot be read. Some kernels and containers lack some of
    /// the files; a check reports no finding about a missing file.
    func text(_ path: String) -> String? { try? String(contentsOfFile: root + path, encoding: .utf8) }

    /// The text of a file without the line feed at its end.
    func line(_ path: String) -> String? { text(path)?.trimmingCharacters(in: .whitespacesAndNewlines) }
}

/// The control group (version 1 or 2) of this process, and its parent groups.
struct ControlGroup {
    private let files: SystemFiles
    /// The path of the group for each controller. Version 2 has a single group; its key is "".
    private var paths: [Substring: Substring] = [:]

    init(_ files: SystemFiles) {
        self.files = files
        for line in (files.text("/proc/self/cgroup") ?? "").split(separator: "\n") {
            // 0::/system.slice/darkroom.service, or 4:memory:/darkroom
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            for controller in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
                paths[controller] = parts[2]
            }
        }
    }

    /// The memory limit of the group in bytes; nil means no limit.
    var memoryLimit: Int? {
        let second = values(of: "", "memory.max", in: "").compactMap { Int($0) }
        let first = values(of: "memory", "memory.limit_in_bytes", in: "/memory").compactMap { Int($0) }
        return (second + first.filter { $0 < 1 << 60 }).min()  // version 1 reports almost 2^63 for "no limit"
    }

    /// The CPU limit of the group, in cores; nil means no limit.
    var coreQuota: Double? {
        let second = values(of: "", "cpu.max", in: "").compactMap { line -> Double? in
            let parts = line.split(separator: " ").compactMap { Double($0) }
            return parts.count == 2 ? parts[0] / parts[1] : nil  // "max 100000" means no limit
        }
        let quotas = values(of: "cpu", "cpu.cfs_quota_us", in: "/cpu").compactMap { Double($0) }
        let periods = values(of: "cpu", "cpu.cfs_period_us", in: "/cpu").compactMap { Double($0) }
        let first = zip(quotas, periods).compactMap { (quota: Double, period: Double) -> Double? in
            quota > 0 && period > 0 ? quota / period : nil
        }
        return (first + second).min()
    }

    /// The values of a file in the group and in its parent groups, whose limits also apply.
    private func values(of controller: Substring, _ name: String, in mount: String) -> [String] {
        guard var path = paths[controller] else { return [] }
        var values: [String] = []
        while true {
            while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
            if let value = files.line("/sys/fs/cgroup\(mount)\(path)/\(name)") { values.append(value) }
            guard let above = Path.split(String(path)).folder else { return values }
            path = above[...]
        }
    }
}
