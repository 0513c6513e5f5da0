import DarkroomFiles
import Foundation

/// The warning that a run works as root. The warning is shown at most once an hour, so that many short runs do not
/// repeat it.
enum RootWarning {
    static let text =
        "warning: this run works as root: an attacker who takes over this process controls the whole machine; use a user "
        + "who can write the output folder"

    private static let interval = 3600
    /// The modification time of this file is the time of the last warning.
    private static let stampName = "root-warning"

    /// Whether the warning is due. If this returns true, the warning is next due in an hour.
    ///
    /// The stamp is in a folder that only this user may use. If another user has created the folder, or a link with the
    /// name of the folder, nothing is written, and the warning is due.
    /// - Parameter temporary: The folder for temporary files.
    static func isDue(in temporary: String = NSTemporaryDirectory(), now: Int = time(nil)) -> Bool {
        do {
            let folder = try Folder(trusted: temporary).makePrivateFolder("darkroom-\(geteuid())")
            if let stamp = try folder.status(of: stampName), stamp.st_mode & S_IFMT == S_IFREG,
                // The difference is negative if the clock was set back.
                (0..<interval).contains(now - stamp.st_mtim.tv_sec)
            {
                return false
            }
            let stamp = try folder.open(stampName, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
            defer { close(stamp) }
            let time = timespec(tv_sec: now, tv_nsec: 0)
            _ = futimens(stamp, [time, time])
        } catch {}  // Without a stamp, each run shows the warning.
        return true
    }
}
