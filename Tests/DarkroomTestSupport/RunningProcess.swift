import Foundation

/// A process of this machine, see proc(5).
package struct RunningProcess {
    package let id: pid_t
    package let name: String
    package let parent: pid_t
    package let isZombie: Bool

    /// All processes.
    package static var all: [RunningProcess] {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return folders.compactMap { folder in
            // A process may end at any time.
            guard let id = pid_t(folder), let stat = FileManager.default.contents(atPath: "/proc/\(folder)/stat")
            else { return nil }
            let text = String(decoding: stat, as: UTF8.self)
            guard let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")") else { return nil }
            let fields = text[end...].split(separator: " ")
            return RunningProcess(
                id: id, name: String(text[start...].dropFirst().prefix { $0 != ")" }), parent: pid_t(fields[2]) ?? 0,
                isZombie: fields[1] == "Z")
        }
    }

    /// The running processes that have this environment variable, `NAME=value`.
    package static func having(_ variable: String) -> [RunningProcess] {
        all.filter { process in
            let environment = FileManager.default.contents(atPath: "/proc/\(process.id)/environ") ?? Data()
            return (Data([0]) + environment).range(of: Data("\0\(variable)\0".utf8)) != nil
        }
    }
}
