import DarkroomFiles
import Foundation

/// Finds mount points without calls to the mounted file systems, which may hang.
package enum MountPoint {
    /// Returns the mount point of an absolute path. Compares only texts, so it does not follow symbolic links.
    package static func of(_ path: String) -> String {
        // If the file cannot be read, all paths count as paths of one file system.
        of(path, mounts: (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? "")
    }

    /// - Parameter mounts: the mounts in the format of proc_pid_mountinfo(5).
    static func of(_ path: String, mounts: String) -> String {
        var longest = "/"
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { continue }
            let point = unescaped(fields[4])
            if point.utf8.count > longest.utf8.count, Folder.part(of: path, below: point) != nil { longest = point }
        }
        return longest
    }

    /// Decodes spaces and backslashes, which the kernel writes as a backslash and three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        guard field.contains("\\") else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
