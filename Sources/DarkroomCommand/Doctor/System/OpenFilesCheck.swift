import Darkroom
import Foundation

/// The limits of this process.
enum SystemLimits {
    /// RLIMIT_NOFILE: the current limit, and the limit up to which the process may raise it.
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
        let soft = limit.soft == .max ? "unlimited" : HumanText.count(limit.soft)
        let downloads = HumanText.count(load.downloads, of: "download")
        let found = "\(soft), a worker with \(downloads) uses up to \(load.openFiles)"
        guard limit.soft < load.openFiles else { return [.ok("open files", found)] }
        let way =
            limit.hard >= load.openFiles
            ? "ulimit -n \(limit.hard == .max ? 4096 : limit.hard)" : "LimitNOFILE= of its service, or limits.conf(5)"
        return [.problem("open files", found, "photos fail: raise the limit (\(way)), or lower --downloads")]
    }
}
