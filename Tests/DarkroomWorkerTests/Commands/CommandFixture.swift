import DarkroomConcurrency
import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// A command with a unique operation name, and functions that find what it has left behind.
final class CommandFixture: Sendable {
    let operation: FilterCommand
    private let mark: String
    private let killsSupervisor: Bool

    init(
        _ command: String, style: FilterCommand.Style = .process, killsSupervisor: Bool = false,
        _ change: (inout CommandLimits) -> Void = { _ in }
    ) throws {
        self.killsSupervisor = killsSupervisor
        mark = "t\(UInt64.random(in: 0 ... .max))"
        var limits = CommandLimits()
        limits.time = .seconds(20)
        change(&limits)
        operation = try FilterCommand(mark, command: command, style: style, limits: limits)
    }

    static func photo(
        _ bytes: [UInt8] = Array("photo".utf8), name: String = "a.jpg", arguments: String = ""
    ) -> CommandPhoto {
        let record = PhotoRecord(index: 7, name: name, url: "http://h/a.jpg?x=1")
        var photo = CommandPhoto(bytes: bytes, record: record, batch: "batch-1")
        photo.arguments = arguments
        return photo
    }

    /// Runs the command for a photo. Checks that no process of a `process` command is left behind.
    func run(
        _ photo: CommandPhoto = photo(), isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        defer {
            // If the supervisor was killed, init reaps the processes, which takes a moment.
            if operation.style == .process, killsSupervisor {
                // The error is ignored: `waitUntil` has recorded the failure of the test.
                try? waitUntil("the processes have ended: \(left())") { left() == [] }
            }
            if operation.style == .process { #expect(left() == []) }
        }
        return try operation.run(photo, isCancelled: isCancelled)
    }

    func text(_ photo: CommandPhoto = photo()) throws -> String { String(decoding: try run(photo), as: UTF8.self) }

    /// Runs the command for a photo that must fail.
    func failure(
        _ photo: CommandPhoto = photo(), isCancelled: @escaping @Sendable () -> Bool = { false },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> PhotoProduct.Failure {
        do throws(PhotoProduct.Failure) {
            let result = try run(photo, isCancelled: isCancelled)
            Issue.record("the photo did not fail: \(result.count) bytes", sourceLocation: sourceLocation)
        } catch {
            return error
        }
        throw POSIXError(.EINVAL)
    }

    /// The running processes with the environment of this command, and the zombies among the children of this process and
    /// of its supervisors.
    func left() -> [String] {
        let processes = RunningProcess.all
        let own = Set(processes.filter { $0.parent == getpid() }.map(\.id)).union([getpid()])
        let zombies = processes.filter { $0.isZombie && own.contains($0.parent) }
        return (zombies + RunningProcess.having("DARKROOM_CUSTOM_FILTER=\(mark)")).map(\.name)
    }

    /// Waits until a process of the command exists whose program is `name`.
    func waitForProcess(_ name: String) {
        // The error is ignored: `waitUntil` has recorded the failure of the test.
        try? waitUntil("a process \(name) runs: \(left())") { left().contains(name) }
    }
}
