import ArgumentParsing
import ErrorExpectations
import Testing

@testable import DarkroomCommand

@Suite struct ServeOptionTests {
    @Test(arguments: [
        (["--trust-header", "X User", "--trust-proxy", "127.0.0.1"], "not the name of a header field"),
        (["--trust-header", "", "--trust-proxy", "127.0.0.1"], "not the name of a header field"),
        (["--host", "photos.example"], "only with --no-token or --trust-header"),
        (["--listen", "0.0.0.0:8080", "--no-token"], "every user of the network"),
    ])
    func uselessOptionIsRefused(arguments: [String], message: String) throws {
        let end = try requireError(CommandExit.self) { try ServeCommand.parse(arguments) }
        #expect(end.standardError.contains(message), "\(end)")
    }

    @Test func cacheThatCannotBeCreatedIsExplained() throws {
        let error = try requireError(CommandError.self) { try ServerFolder("/proc/no-such-folder") }
        #expect("\(error)".contains("No such file or directory"), "\(error)")
    }
}
