import DarkroomTestSupport
import ArgumentParsing
import Darkroom
import Foundation
import Testing

@testable import DarkroomCommand

/// The README and the documentation mention every command, option and failure reason of the program.
@Suite struct DocumentationTests {
    @Test func readmeHasEveryCommand() throws {
        let readme = try Self.text(of: "README.md")
        for command in DarkroomProgram.configuration.subcommands where command.configuration.shouldDisplay {
            #expect(readme.contains("`\(command.configuration.name)`"), "\(command.configuration.name)")
        }
    }

    @Test func pagesHaveEveryOption() throws {
        let pages =
            try Self.page("Commands") + Self.page("ListsAndOutput") + Self.page("Formats") + Self.page("WebServer")
        for command in DarkroomProgram.configuration.subcommands where command.configuration.shouldDisplay {
            let name = command.configuration.name
            for line in try Program.run(name, "--help", "all").lines {
                // `  --photos <ranges>` or `  -o, --output <folder>`. Lines of descriptions start with more spaces.
                guard let match = try #/ {2}(?:-[a-z], )?(--[a-z-]+)(?: .*)?/#.wholeMatch(in: line) else { continue }
                let option = String(match.output.1)
                #expect(option == "--help" || pages.contains(option), "\(name) \(option)")
            }
        }
    }

    @Test func pageHasEveryReasonOfFailures() throws {
        let page = try Self.page("ListsAndOutput")
        for reason in FailureReason.allCases { #expect(page.contains("| `\(reason.word)` |"), "\(reason.word)") }
    }

    @Test func linksBetweenPagesHaveTargets() throws {
        let readme = try Self.text(of: "README.md")
        for match in readme.matches(of: #/\]\(((?:Sources|Documentation|deploy)/[^)]+)\)/#) {
            let path = TestFiles.package.appendingPathComponent(String(match.output.1)).path
            #expect(FileManager.default.fileExists(atPath: path), "\(path)")
        }
    }

    @Test(arguments: ["CONTRIBUTING.md", "Tests/README.md"])
    func namedTestsExist(page: String) throws {
        let folder = TestFiles.package.appendingPathComponent("Tests")
        let files = try #require(FileManager.default.subpaths(atPath: folder.path)).filter { $0.hasSuffix(".swift") }
        let tests = try files.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
        // `StoreModelTests/randomSteps`
        let names = try Self.text(of: page).matches(of: #/Tests\/([a-z][A-Za-z]+)['`]/#).map { $0.output.1 }
        #expect(!names.isEmpty)
        for name in names { #expect(tests.contains { $0.contains("func \(name)(") }, "\(name)") }
    }

    private static func page(_ name: String) throws -> String {
        try text(of: "Sources/Surfaces/Darkroom/Darkroom.docc/\(name).md")
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: TestFiles.package.appendingPathComponent(path), encoding: .utf8)
    }
}
