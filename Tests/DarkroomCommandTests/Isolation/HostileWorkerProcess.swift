import DarkroomTestSupport
import Foundation
import Testing

/// A process of the program `HostileWorker` on a queue, and its helpers.
final class HostileWorkerProcess {
    let process: BoundProcess

    init(_ queue: Queue, isolated: Bool, privileged: Bool = true, filtered: Bool = true) throws {
        let program = Program.executable.deletingLastPathComponent().appendingPathComponent("HostileWorker").path
        let redis = queue.redis.configuration.displayName
        process = try BoundProcess(
            // Backtraces of the crashes are disabled, because they would take longer than the rest of the test.
            (privileged ? [] : Self.withoutPrivileges)
                + ["env", "SWIFT_BACKTRACE=enable=no", "SECRET=token", program, redis, queue.namespace, queue.folder]
                + (isolated ? ["isolated"] : []) + (filtered ? [] : ["unfiltered"]),
            log: queue.folder + "/hostile.log")
    }

    /// The command that runs another command without the privileges of root.
    static let withoutPrivileges = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []

    /// Returns whether another process of the same user may read the memory and the environment of a process.
    static func canBeRead(_ process: Int32) throws -> Bool {
        let reader = try BoundProcess(withoutPrivileges + ["cat", "/proc/\(process)/environ"], log: "/dev/null")
        #expect(reader.wait(within: .seconds(20)))
        return reader.exitStatus == 0
    }

    /// Waits until a process has child processes, and returns them.
    static func waitForChildren(of parent: Int32) throws -> [Int32] {
        var found: [Int32] = []
        try waitUntil("process \(parent) has children") {
            found = children(of: parent)
            return !found.isEmpty
        }
        return found
    }

    /// The processes that a process has started and that have not ended.
    static func children(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []  // unreadable: empty
        return names.compactMap { Int32($0) }.filter { identifier in
            // A process that has ended has no `stat` file.
            guard let text = FileManager.default.contents(atPath: "/proc/\(identifier)/stat") else { return false }
            let words = String(decoding: text, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && words[0] != "Z" && words[1] == "\(parent)"
        }
    }

    /// Waits until all these processes have ended.
    static func waitUntilGone(_ processes: [Int32]) throws {
        try waitUntil("processes \(processes) have ended") { processes.allSatisfy { kill($0, 0) != 0 } }
    }
}
