import ArgumentParsing
import Testing

@Suite struct HelpTests {
    @Test func rootGroupsItsCommands() {
        #expect(
            outcome(of: ["--help"])?.standardOutput == """
                Develop photo lists on a cluster.

                Usage: darkroom <command> [options]

                Coordinator:
                  submit         Split a photo list into operations and feed them.
                  cancel         Cancel batches.

                Worker:
                  worker         Develop what is queued.

                Monitor:
                  watch          Show bars, rates, the time that is left and the workers while
                                 the batches run.
                  bench          Measure the system.

                Options:
                  -h, --help     Show this help, or with a command its help.
                  -V, --version  Show the version.

                Example:
                  darkroom submit photos.csv -o developed

                """)
    }

    @Test func commandShowsArgumentsOptionsGroupsAndExample() {
        #expect(
            outcome(of: ["submit", "--help"])?.standardOutput == """
                Split a photo list into operations and feed them.

                Usage: darkroom submit <list> --output <folder> [options]

                Arguments:
                  <list>                  The photo list; - is standard input.

                Options:
                  -o, --output <folder>   The folder for the photos.
                  --after <batch>         Wait for a batch. (may be repeated)
                  --priority <value>      How urgent it is. (one of veryLow, low, normal, high,
                                          veryHigh; default: normal)
                  --operation-size <count>
                                          Photos an operation. (default: 50)
                  --intensity <value>     Quality.
                  --lease <duration>      How long a silent worker keeps an operation. (default:
                                          15s)
                  --max-download <size>   The largest download. (default: 64MiB)
                  --max-pixels <count>    The largest picture. (default: 100M)
                  -w, --wait              Wait until it is finished.
                  -j, --json              Print JSON.
                  -h, --help              Show this help.

                Connection options:
                  --redis <url>           The Redis server. (default: redis://127.0.0.1:6379; or
                                          by DARKROOM_REDIS)
                  --namespace <value>     The prefix of all keys. (default: darkroom)

                Example:
                  darkroom submit photos.csv -o developed

                """)
    }

    @Test func linesAreAtMost80ColumnsWide() {
        for words in [["--help"], ["submit", "--help"], ["cancel", "--help"], ["bench", "develop", "--help"]] {
            let lines = outcome(of: words)?.standardOutput.split(separator: "\n") ?? []
            #expect(lines.count > 5)
            #expect(lines.allSatisfy { $0.count <= 80 && $0.last != " " })
        }
    }

    @Test(arguments: [
        ["submit", "-h"], ["submit", "--unknown", "--lease", "x", "--help"], ["help", "submit"],
        ["submit", "--output", "--help"], ["submit", "-wh"],
    ])
    func helpHasPrecedenceOverErrors(words: [String]) {
        let end = outcome(of: words)
        #expect(end?.code == .success)
        #expect(end?.standardError.isEmpty == true)
        #expect(end?.standardOutput.contains("Usage: darkroom submit") == true)
    }

    @Test func nestedCommandsHaveTheirOwnHelp() {
        #expect(outcome(of: ["help"])?.standardOutput.contains("Usage: darkroom <command>") == true)
        #expect(outcome(of: ["bench", "-h"])?.standardOutput.contains("develop  ") == true)
        #expect(
            outcome(of: ["help", "bench", "develop"])?.standardOutput.contains("darkroom bench develop <folder>")
                == true)
        #expect(outcome(of: ["cancel", "-h"])?.standardOutput.contains("Usage: darkroom cancel [<batch>...]") == true)
    }

    @Test(arguments: [["--version"], ["-V"], ["-v"], ["version"], ["help", "version"], ["submit", "x", "--version"]])
    func version(words: [String]) {
        #expect(outcome(of: words)?.standardOutput == "darkroom 1.2.3\n")
        #expect(outcome(of: words)?.code == .success)
    }

    @Test func helpThatDoesNotFitOnAScreenHasOnlyTheMainOptions() throws {
        let text = try #require(outcome(of: Long.self, ["--help"])?.standardOutput)
        #expect(
            text == """
                Has many options.

                Usage: long [options]

                Main options:
                  -b, --second <value>    Does another thing. By default 3. (default: 3)
                  --first                 Does one thing.
                  -h, --help              Show this help.

                Example:
                  long --first

                'long --help all' shows all 42 options.

                """)
    }

    @Test(arguments: [
        ["--help", "all"], ["--help=all"], ["-h", "all"], ["--first", "--second", "2", "--help", "all"],
    ])
    func helpAllHasAllOptionsAndTheDescription(words: [String]) throws {
        let text = try #require(outcome(of: Long.self, words)?.standardOutput)
        #expect(text.contains("\nThe description.\n") && text.contains("Does another thing. It is long."))
        for number in 1...40 { #expect(text.contains("  --option\(number) ")) }
        #expect(
            outcome(of: ["help", "bench", "develop", "all"])?.standardOutput.contains("bench develop <folder>") == true)
    }

    @Test(arguments: [
        ["--help", "submit"], ["-h", "submit"], ["help", "submit", "--help"], ["submit", "x", "-h", "-o"],
    ])
    func helpMayPrecedeOrFollowTheCommand(words: [String]) {
        #expect(outcome(of: words)?.standardOutput.contains("Usage: darkroom submit") == true)
    }

    @Test func hiddenCommandsRun() throws {
        #expect(try Root.parseAsRoot(["helper"]) is Helper)
    }

    @Test func nestedCommandsAreFound() throws {
        let command = try Root.parseAsRoot(["bench", "develop", "photos"])
        #expect((command as? BenchDevelop)?.photos == "photos")
    }
}
