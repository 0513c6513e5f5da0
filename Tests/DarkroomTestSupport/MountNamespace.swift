import Foundation

/// Mounts of a test's own: what is mounted there nobody else sees, and it goes with the test.
///
/// Programs that are to see them are started through ``command(_:)``; the test itself looks through ``path(_:)``.
package final class MountNamespace: Sendable {
    /// Whether one can be made: that takes root's rights.
    package static let isAvailable = canDo("mount -t tmpfs -o size=1m none /mnt")

    /// Whether file systems in files can be mounted there, too: that takes loop devices.
    package static let hasLoopDevices = canDo(
        "truncate -s 4M image && mkfs.ext4 -q -F image && mount -o loop image /mnt && umount /mnt && rm image")

    private static func canDo(_ setup: String) -> Bool {
        // Why it cannot be done is nothing to those who skip their tests then.
        guard let made = try? MountNamespace(setup) else { return false }
        made.stop()
        return true
    }

    /// A folder for the test, seen from everywhere; it goes with the namespace.
    package let folder: String
    private let holder: BoundProcess

    /// Makes one.
    /// - Parameter setup: what a shell does in it first, in ``folder``.
    package init(_ setup: String) throws {
        folder = NSTemporaryDirectory() + "darkroom-mounts-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let ready = folder + "/ready"
        let script = "cd '\(folder)' && mount --make-rprivate / && \(setup) && touch '\(ready)' && exec sleep infinity"
        holder = try BoundProcess(["unshare", "-m", "sh", "-c", script], log: folder + "/log")
        let deadline = ContinuousClock.now + .seconds(20)
        while !FileManager.default.fileExists(atPath: ready) {
            guard kill(holder.identifier, 0) == 0, ContinuousClock.now < deadline else {
                let log = FileManager.default.contents(atPath: folder + "/log") ?? Data()
                stop()
                throw Failure(description: "\(setup): \(String(decoding: log, as: UTF8.self))")
            }
            usleep(2000)  // a file has no signal to wait for
        }
    }

    deinit { stop() }

    /// Why a shell did not do what it was told.
    package struct Failure: Error, CustomStringConvertible {
        /// What it was told, and what it said.
        package let description: String
    }

    /// The command that runs `command` in here.
    package func command(_ command: [String]) -> [String] { ["nsenter", "-t", "\(holder.identifier)", "-m"] + command }

    /// Has a shell do something in here, in ``folder``.
    package func run(_ commands: String) throws {
        let script = folder + "/script-\(UUID().uuidString)"
        try Data("cd '\(folder)'\n\(commands)\n".utf8).write(to: URL(fileURLWithPath: script))
        defer { unlink(script) }
        let status = system("\(command(["sh", "-e", script]).joined(separator: " ")) >'\(script).log' 2>&1")
        let log = FileManager.default.contents(atPath: script + ".log") ?? Data()
        unlink(script + ".log")
        guard status == 0 else {
            throw Failure(description: "\(commands): \(String(decoding: log, as: UTF8.self))")
        }
    }

    /// What the test sees as the absolute path `path` of in here.
    package func path(_ path: String) -> String { "/proc/\(holder.identifier)/root\(path)" }

    /// Unmounts all, once the programs in here have ended.
    package func stop() {
        holder.stop()
        // Unmounted with the namespace: what is left are the empty mount points.
        try? FileManager.default.removeItem(atPath: folder)
    }
}
