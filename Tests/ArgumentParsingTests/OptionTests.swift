import ArgumentParsing
import Testing

@Suite struct OptionTests {
    @Test func valuesHaveDefaults() throws {
        let command = try Submit.parse(["list", "--output", "folder"])
        #expect(command.list == "list")
        #expect(command.output == "folder")
        #expect(command.after == [])
        #expect(command.priority == .normal)
        #expect(command.operationSize == 50)
        #expect(command.intensity == nil)
        #expect(command.lease == .seconds(15))
        #expect(command.maxDownload.bytes == 67_108_864)
        #expect(command.maxPixels.value == 100_000_000)
        #expect(!command.wait)
        #expect(command.connection.redis == "redis://127.0.0.1:6379")
    }

    @Test(arguments: [["--output", "x y"], ["--output=x y"], ["-o", "x y"], ["-ox y"], ["-o=x y"], ["-wjox y"]])
    func namesAndValuesAreWrittenInSeveralWays(words: [String]) throws {
        #expect(try Submit.parse(words + ["list"]).output == "x y")
        #expect(try Submit.parse(["list"] + words).output == "x y")
    }

    @Test func shortFlagsCombine() throws {
        let command = try Submit.parse(["-jw", "list", "-o", "x"])
        #expect(command.wait && command.printsJSON)
    }

    @Test func arraysCollectAndSingleValuesAreReplaced() throws {
        let command = try Submit.parse([
            "list", "-o", "x", "--after", "a", "--after=b", "--intensity", "0.5", "--intensity", "0.8",
        ])
        #expect(command.after == ["a", "b"])
        #expect(command.intensity == 0.8)
    }

    @Test func attachedValuesMayBeginWithDashesContainEqualSignsOrBeEmpty() throws {
        let command = try Submit.parse(["list", "--output=--x=y", "--after="])
        #expect(command.output == "--x=y")
        #expect(command.after == [""])
    }

    @Test func dashAndNegativeNumbersAreValues() throws {
        let command = try Submit.parse(["-", "-o", "-", "--intensity", "-0.5"])
        #expect(command.list == "-")
        #expect(command.output == "-")
        #expect(command.intensity == -0.5)
    }

    @Test func everythingAfterTwoDashesIsAnArgument() throws {
        #expect(try Cancel.parse(["a", "--", "--help", "-x", "--"]).batch == ["a", "--help", "-x", "--"])
    }

    @Test func optionalArgumentsMayBeOmitted() throws {
        #expect(try Watch.parse([]).batch == nil)
        #expect(try Watch.parse(["a"]).batch == "a")
        #expect(try Cancel.parse([]).batch == [])
    }

    @Test func optionsOverrideTheEnvironmentAndItOverridesDefaults() throws {
        let environment = ["DARKROOM_REDIS": "unix:///a"]
        func redis(_ words: String..., environment: [String: String]) throws -> String {
            try Submit.parse(["list", "-o", "x"] + words, environment: environment).connection.redis
        }
        #expect(try redis(environment: environment) == "unix:///a")
        #expect(try redis("--redis", "unix:///b", environment: environment) == "unix:///b")
        #expect(try redis(environment: ["DARKROOM_REDIS": ""]) == "redis://127.0.0.1:6379")
    }

    @Test func commandsParsedTwiceShareNothing() throws {
        let first = try Submit.parse(["one", "-o", "x", "--after", "a"])
        let second = try Submit.parse(["two", "-o", "y", "--after", "b"])
        #expect(first.list == "one" && first.after == ["a"])
        #expect(second.list == "two" && second.after == ["b"])
    }

    @Test func listsTheGivenOptions() throws {
        let command = try Submit.parse(
            ["list", "-o", "x", "--wait", "--operation-size", "50", "--after=a", "--namespace=n"],
            environment: ["DARKROOM_REDIS": "unix:///a"])
        #expect(
            command.givenOptions() == [
                "--output", "--after", "--operation-size", "--wait", "--redis", "--namespace",
            ])
        #expect(try Submit.parse(["list", "-o", "x"]).givenOptions() == ["--output"])
    }
}
