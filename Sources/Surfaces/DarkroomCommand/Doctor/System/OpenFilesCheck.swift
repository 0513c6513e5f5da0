import Darkroom
import Foundation

/// The limits of this process.
enum SystemLimits {
    /// RLIMIT_NOFILE: the current limit (soft limit), and its maximum (hard limit).
    static var openFiles: (soft: Int, hard: Int) { limit(RLIMIT_NOFILE) }
    /// RLIMIT_AS in bytes.
    static var addressSpace: Int { limit(RLIMIT_AS).soft }

    private static func limit(_ resource: __rlimit_resource) -> (soft: Int, hard: Int) {
        var limit = rlimit()
        // getrlimit fails only for resources that do not exist.
        getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }
}

/// Checks that a worker may open the files and sockets that it needs.
struct OpenFilesCheck: Check {
    let limit: (soft: Int, hard: Int)
    let load: WorkerLoad

    var findings: [Finding] {
        // A worker raises its own limit up to the hard limit.
        let hard = limit.hard == .max ? "unlimited" : HumanText.count(limit.hard)
        let found = "\(hard), a worker uses up to \(HumanText.count(load.openFiles))"
        guard limit.hard < load.openFiles else { return [.ok("open files", found)] }
        return [
            .warning(
                "open files", found,
                "fewer requests run at once: raise the hard limit (LimitNOFILE= of its service, or limits.conf(5))")
        ]
    }
}
