import ArgumentParsing
import ErrorExpectations
import Testing

@Suite struct UsageErrorTests {
    /// The error messages of an invalid command line, without their prefix `error: `.
    private func problems(_ words: String..., environment: [String: String] = [:]) throws -> [String] {
        let end = try #require(outcome(of: words, environment: environment))
        #expect(end.code == .usage)
        #expect(end.standardOutput.isEmpty)
        let lines = end.standardError.split(separator: "\n")
        return lines.filter { $0.hasPrefix("error: ") }.map { String($0.dropFirst(7)) }
    }

    @Test func suggestsASimilarOption() throws {
        #expect(
            try problems("submit", "list", "-o", "x", "--opertion-size", "3").first
                == "unknown option --opertion-size; did you mean --operation-size?")
        #expect(
            try problems("submit", "list", "-o", "x", "--priorty=high")
                == ["unknown option --priorty; did you mean --priority?"])
        #expect(try problems("submit", "list", "-o", "x", "--colour=red") == ["unknown option --colour"])
        #expect(try problems("submit", "list", "-o", "x", "-x") == ["unknown option -x"])
    }

    @Test func suggestsTheOptionOfASynonym() throws {
        let words = ["submit", "list", "-o", "x"]
        func problem(_ more: String...) throws -> [String] {
            let end = try #require(outcome(of: words + more))
            return end.standardError.split(separator: "\n").filter { $0.hasPrefix("error: ") }.map {
                String($0.dropFirst(7))
            }
        }
        #expect(try problem("-q", "3") == ["unknown option -q; did you mean --intensity?"])
        #expect(try problem("-q3") == ["unknown option -q3; did you mean --intensity?"])
        #expect(try problem("-n", "x") == ["unknown option -n; did you mean --namespace?"])
        #expect(try problem("--strength=3") == ["unknown option --strength; did you mean --intensity?"])
        #expect(try problem("-intensity", "3") == ["unknown option -intensity; did you mean --intensity?"])
        #expect(try problem("--sepia", "3") == ["unknown option --sepia; use --filter sepia=3"])
        #expect(try problem("-sepia=3") == ["unknown option -sepia=3; use --filter sepia=3"])
        #expect(
            try problem("photo", "--wait")
                == ["unexpected argument \"photo\"; try bench develop list photo -o x --wait"])
        #expect(try problems("cancel", "--lease", "3") == ["unknown option --lease; it is an option of submit"])
        #expect(try problems("cancel", "-q") == ["unknown option -q; use --intensity of submit"])
        #expect(try problems("sepia", "3") == ["unknown command \"sepia\"; it is a filter (3)"])
    }

    @Test func suggestsASimilarCommand() throws {
        #expect(try problems("sumbit") == ["unknown command \"sumbit\"; did you mean submit?"])
        #expect(try problems("frobnicate") == ["unknown command \"frobnicate\""])
        #expect(try problems("helpr") == ["unknown command \"helpr\""])
        #expect(try problems("bench", "develp") == ["unknown command \"develp\"; did you mean develop?"])
    }

    @Test func suggestsTheCommandOfASynonym() throws {
        #expect(try problems("stop") == ["unknown command \"stop\"; did you mean cancel?"])
        #expect(try problems("Begin") == ["unknown command \"Begin\"; did you mean submit or worker?"])
    }

    @Test func escapesControlCharactersAndIndentsFurtherLines() throws {
        struct Failure: Error, CustomStringConvertible { let description: String }
        let hostile = "list.xml: tag <a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2028}>\nerror: all is lost\r\u{7f}"
        let shown =
            #"list.xml: tag <a\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2028}>"# + "\n  error: all is lost" + #"\r\u{7f}"#
        #expect(CommandExit(Failure(description: hostile)).standardError == "error: \(shown)\n")
        #expect(CommandExit(ValidationError(hostile)).standardError == "error: \(shown)\n")
        let word = "\u{1b}[31mx"
        #expect(try problems(word).first == #"unknown command "\u{1b}[31mx""#)
        #expect(try problems("submit", "l", "-o", "x", "--\(word)") == [#"unknown option --\u{1b}[31mx"#])
        #expect(
            try problems("submit", "l", "-o", "x", "--lease", word).first?.hasPrefix(#"--lease "\u{1b}[31mx": "#)
                == true)
    }

    @Test func valueThatTheShellHasSplitGetsAdvice() throws {
        #expect(
            try problems("submit", "list", "-o", "my", "folder")
                == ["unexpected argument \"folder\"; if it is part of the value of -o, put the whole value in quotes"])
        #expect(try problems("submit", "-o", "x", "list", "more") == ["unexpected argument \"more\""])
        #expect(try problems("submit", "list", "-o", "x", "--", "more") == ["unexpected argument \"more\""])
    }

    @Test func missingValues() throws {
        #expect(try problems("submit", "list", "--output") == ["--output needs a value: --output <folder>"])
        #expect(try problems("submit", "list", "-o", "--wait") == ["-o needs a value: -o <folder>"])
        #expect(try problems("submit", "list") == ["missing --output <folder>"])
        #expect(try problems("submit", "-o", "x") == ["missing <list>"])
        #expect(try problems("bench", "develop") == ["missing <folder>"])
    }

    @Test func valuesOfFlags() throws {
        #expect(try problems("submit", "list", "-o", "x", "--wait=no") == ["--wait takes no value (found \"no\")"])
    }

    @Test func extraArguments() throws {
        #expect(try problems("submit", "list", "more", "-o", "x") == ["unexpected argument \"more\""])
    }

    @Test func errorsOfInvalidValuesShowValidValues() throws {
        #expect(
            try problems("submit", "list", "-o", "x", "--priority", "hihg") == [
                "--priority \"hihg\": did you mean \"high\"? it can be veryLow, low, normal, high, veryHigh"
            ])
        #expect(
            try problems("submit", "list", "-o", "x", "--lease", "15x")
                == ["--lease \"15x\": write a duration with its unit, such as 250ms, 15s, 5m, 1m30s or 24h"])
        #expect(
            try problems("submit", "list", "-o", "x", "--operation-size", "1.5")
                == ["--operation-size \"1.5\": not a whole number"])
    }

    @Test func allProblemsAreShownTogether() throws {
        #expect(
            try problems("submit", "--lease", "x", "--intensity=y", "--unknown") == [
                "--lease \"x\": write a duration with its unit, such as 250ms, 15s, 5m, 1m30s or 24h",
                "--intensity \"y\": not a number", "unknown option --unknown", "missing <list>",
                "missing --output <folder>",
            ])
    }

    @Test func validationsOfAllGroupsAreShownTogether() throws {
        #expect(
            try problems("submit", "list", "-o", "x", "--namespace", "a/b", "--operation-size", "0")
                == ["--namespace \"a/b\": no slash, please", "--operation-size 0: at least 1"])
    }

    @Test func optionsBeforeTheCommand() throws {
        #expect(try problems("--json", "submit") == ["the command comes before its options (found \"--json\")"])
    }

    @Test func noCommandShowsTheHelp() throws {
        #expect(try problems() == ["missing a command"])
        #expect(outcome(of: ["bench"])?.standardError.contains("Usage: darkroom bench <command>") == true)
    }

    @Test func usageErrorEndsWithTheUsage() throws {
        #expect(
            outcome(of: ["submit"])?.standardError == """
                error: missing <list>
                error: missing --output <folder>
                Usage: darkroom submit <list> --output <folder> [options]
                See 'darkroom submit --help' for more.

                """)
    }

    @Test func thrownErrorsBecomeExitCodes() throws {
        struct Failure: Error, CustomStringConvertible {
            let description = "it broke"
        }
        let command = try Root.parseAsRoot(["cancel", "a"])
        let error = expectError(ExitCode.self) { try command.run() }
        #expect(CommandExit(try #require(error)).code == ExitCode(4))
        #expect(CommandExit(ExitCode(3)).standardError.isEmpty)
        #expect(CommandExit(Failure()).code == .failure)
        #expect(CommandExit(Failure()).standardError == "error: it broke\n")
        #expect(CommandExit(ValidationError("not so")).code == .usage)
    }
}
