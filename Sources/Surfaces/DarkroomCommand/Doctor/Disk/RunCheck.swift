import DarkroomText
import Foundation

/// The additional requirements of `darkroom run`: redis-server, and a folder for the socket of its private Redis.
struct RunFacts {
    /// The possible folders of the socket, the preferred folder first. `failure` is the reason why a folder is
    /// unusable.
    var socketFolders: [(path: String, failure: String?)] = []
    /// The path of redis-server; nil if it is not in PATH.
    var server: String?
}

/// Gathers the facts for ``RunCheck``.
struct RunProbe {
    var environment = ProcessInfo.processInfo.environment
    var temporary = "/tmp"

    func facts() -> RunFacts {
        var facts = RunFacts()
        let parents = SocketFolder.parents(environment: environment, temporary: temporary)
        facts.socketFolders = parents.map { ($0, Self.failure(ofSocketIn: $0)) }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        facts.server = folders.map { "\($0)/redis-server" }.first { access($0, X_OK) == 0 }
        return facts
    }

    /// Creates a socket in a new folder, then removes the socket and the folder. Returns the error; nil on success.
    private static func failure(ofSocketIn parent: String) -> String? {
        guard let folder = SocketFolder.make(in: parent) else { return systemErrorText() }
        let path = folder.path + "/redis.sock"
        defer {
            unlink(path)
            rmdir(folder.path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < capacity else { return "its path is too long for a socket" }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return systemErrorText() }
        defer { close(descriptor) }
        let bound = withUnsafeBytes(of: &address) { bytes in
            // bind(2) takes a pointer to the general socket address; the kernel reads the family first.
            bind(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(MemoryLayout<sockaddr_un>.size))
        }
        return bound == 0 ? nil : systemErrorText()
    }
}

/// Checks whether `darkroom run` can start its Redis.
struct RunCheck: Check {
    let facts: RunFacts

    var findings: [Finding] { [socket, server] }

    private var socket: Finding {
        let check = "socket of run"
        let failures = facts.socketFolders.compactMap { folder in folder.failure.map { "\(folder.path): \($0)" } }
        guard let good = facts.socketFolders.first(where: { $0.failure == nil }) else {
            return .problem(
                check, failures.joined(separator: "; "),
                "\"darkroom run\" needs a folder for a socket: let this user write to one of them")
        }
        guard failures.isEmpty || good.path == facts.socketFolders[0].path else {
            return .warning(
                check, "\(good.path), since \(failures.joined(separator: "; "))",
                "correct XDG_RUNTIME_DIR, or unset it")
        }
        return .ok(check, good.path)
    }

    private var server: Finding {
        if let server = facts.server { return .ok("redis-server", server) }
        return .warning(
            "redis-server", "not in PATH", "only \"darkroom run\" needs it (Debian: apt install redis-server)")
    }
}
