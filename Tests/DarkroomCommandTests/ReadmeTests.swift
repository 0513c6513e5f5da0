import DarkroomTestSupport
import Foundation
import Testing

/// The commands of the README that do not need their own Redis server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReadmeTests {
    @Test func examplesOfOneMachineRun() throws {
        let scratch = try ScratchFolder()
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("Tests"), withDestinationPath: TestFiles.package.appendingPathComponent("Tests").path)
        let commands = try Self.commands(of: "First example") + Self.commands(of: "Filters, sizes and formats")
        let script = try scratch.write("script", "set -ex\n" + commands.joined())
        let printed = try scratch.write("printed", "")
        let output = try #require(FileHandle(forWritingAtPath: printed))
        defer { try? output.close() }  // the test reads the file by its path; an error would show there
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = [script]
        shell.currentDirectoryURL = scratch.url
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        shell.environment = [
            "PATH": Program.executable.deletingLastPathComponent().path + ":" + path,
            "XDG_RUNTIME_DIR": scratch.path,
        ]
        shell.standardOutput = output
        shell.standardError = output
        try shell.run()
        shell.waitUntilExit()
        let text = try String(contentsOfFile: printed, encoding: .utf8)
        #expect(shell.terminationStatus == 0, "\(text)")
        // Each `run` of the README without --dry-run develops all samples.
        let runs = commands.joined().replacing("\\\n", with: " ").split(separator: "\n")
            .count { $0.hasPrefix("darkroom run ") && !$0.contains("--dry-run") }
        #expect(runs >= 4 && text.matches(of: #/9 photos: 9 filtered/#).count == runs, "\(text)")
    }

    /// The blocks of commands in a section.
    private static func commands(of section: String) throws -> [String] {
        let readme = try String(contentsOf: TestFiles.package.appendingPathComponent("README.md"), encoding: .utf8)
        let start = try #require(readme.range(of: "\n## \(section)\n"))
        let rest = readme[start.upperBound...]
        let text = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        return text.matches(of: #/```sh\n(?<commands>(?s:.*?))```/#).map { String($0.output.commands) }
    }
}
