import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

@Suite struct CommandProgramTests {
    @Test(arguments: [
        ("cat", ["/usr/bin/cat"]), (" cat\t- x=1 ", ["/usr/bin/cat", "-", "x=1"]),
        ("/usr/bin/cat é:%,@^", ["/usr/bin/cat", "é:%,@^"]),
    ])
    func executesPlainWordsDirectly(_ text: String, _ arguments: [String]) throws {
        #expect(try CommandProgram(text, path: "/none:/usr/bin").arguments == arguments)
    }

    @Test(arguments: [
        "cat | cat", "a=1 cat", "echo 'x'", "echo \"x\"", "cat ~/x", "ls *", "echo $HOME", "a; b", "a && b",
        "echo x >f",
        "a\nb", "a # b", "echo `x`", "(a)", "{ a; }", "echo \\x", "a!", "ls ?", "ls [a]",
    ])
    func executesAllOtherTextsWithTheShell(_ text: String) throws {
        #expect(try CommandProgram(text).arguments == ["/bin/sh", "-c", text])
    }

    @Test(arguments: [
        ("", "the command is empty"), (" \t", "the command is empty"), ("a\0b", "NUL"),
        ("no-such-program -x", "no program \"no-such-program\" was found in PATH (/usr/bin)"),
        ("/usr/bin", "/usr/bin does not exist or cannot be executed"), ("/etc/passwd", "cannot be executed"),
        ("./none", "/none does not exist"),
    ])
    func namesTheProblem(_ text: String, _ problem: String) {
        #expect {
            try CommandProgram(text, path: "/usr/bin")
        } throws: {
            "\($0)".contains(problem)
        }
    }

    @Test(arguments: ["", "a b", "x:a", "a=b"]) func rejectsInvalidNames(_ name: String) {
        #expect(throws: InvalidCommand.self) { try FilterCommand(name, command: "cat") }
    }
}
