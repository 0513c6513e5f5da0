import DarkroomFiles
import Foundation

/// The folder for the socket of a private Redis. It is not in the output folder, whose path may be too long for a
/// socket.
enum SocketFolder {
    static let prefix = "darkroom-run-"

    /// The possible parent folders, the preferred folder first.
    static func parents(
        environment: [String: String] = ProcessInfo.processInfo.environment, temporary: String = "/tmp"
    ) -> [String] {
        [environment["XDG_RUNTIME_DIR"] ?? "", temporary].filter(Path.isAbsolute)
    }

    /// Creates a new folder with mode 0700.
    /// - Returns: The path; nil on failure, with the error in `errno`.
    static func make(in parent: String) -> String? {
        // mkdtemp(3) replaces the Xs.
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
