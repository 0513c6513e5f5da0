import DarkroomTestSupport
import Foundation
import Testing

/// How the tests start programs.
struct ProgramTests {
    /// With about 1,350 open descriptors, the next start of a program could crash Foundation of Swift 6.0.
    @Test func startingAProgramLeavesNoFileOpenInTheTests() throws {
        let scratch = try ScratchFolder()
        let opened = try scratch.write("opened", "")
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: opened))
        defer { try? file.close() }
        let program = try Program(["--version"], input: try scratch.write("input", ""))
        #expect(try program.outcome().status == 0)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // The descriptor that listed the folder is closed again, so its link cannot be read.
        let files = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(files.filter { $0.hasPrefix(scratch.path) || $0.hasPrefix(program.folder.path) } == [opened])
    }
}
