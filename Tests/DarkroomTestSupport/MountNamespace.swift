import Foundation

/// A mount namespace of a test. Its mounts are invisible to other processes and end with the test.
///
/// ``command(_:)`` runs programs in the namespace. ``path(_:)`` gives the test itself access to files in the namespace.
package final class MountNamespace: Sendable {
    /// Whether the test can create a namespace. This requires root.
    package static let isAvailable = canDo("mount -t tmpfs -o size=1m none /mnt")

    /// Whether the test can also mount file system images. This requires loop devices.
    package static let hasLoopDevices = canDo(
        "truncate -s 4M image && mkfs.ext4 -q -F image && mount -o loop image /mnt && umount /mnt && rm image")

    private static func canDo(_ setup: String) -> Bool {
        // The tests are skipped whatever the error is.
        guard let made = try? MountNamespace(setup) else { return false }
        made.stop()
        return true
    }

    /// A folder for the test, visible inside and outside the namespace. `stop` removes it.
    package let folder: String
    private let holder: BoundProcess

    /// Creates a namespace.
    /// - Parameter setup: Shell commands that run first in the namespace, in ``folder``.
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
            usleep(2000)  // the file has no change notification
        }
    }

    deinit { stop() }

    /// A failure of shell commands.
    package struct Failure: Error, CustomStringConvertible {
        /// The commands and their output.
        package let description: String
    }

    /// The command that runs `command` in the namespace.
    package func command(_ command: [String]) -> [String] { ["nsenter", "-t", "\(holder.identifier)", "-m"] + command }

    /// Runs shell commands in the namespace, in ``folder``.
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

    /// Converts an absolute path inside the namespace to the path of the same file outside it.
    package func path(_ path: String) -> String { "/proc/\(holder.identifier)/root\(path)" }

    /// Ends the namespace. The mounts disappear once all programs in the namespace have ended.
    package func stop() {
        holder.stop()
        // The file systems are unmounted with the namespace. Only the empty mount points remain.
        try? FileManager.default.removeItem(atPath: folder)
    }
}
