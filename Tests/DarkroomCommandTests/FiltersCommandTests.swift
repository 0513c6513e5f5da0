import DarkroomRecipes
import Foundation
import Testing

@Suite struct FiltersCommandTests {
    @Test func listsEveryFilter() throws {
        let outcome = try Program.run("filters")
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == Filter.Kind.allCases.count)
        #expect(
            outcome.lines.first
                == "colour\tsepia\tsepia=80%\tTones the photo brown, as the CSS filter sepia().")
        let json = try #require(try Program.run("filters", "--json").json() as? [[String: Any]])
        #expect(json.map { $0["name"] as? String } == Filter.Kind.allCases.map(\.rawValue))
    }

    @Test func narrowTerminalShowsTheExamples() throws {
        let terminal = try PseudoTerminal(Program.executable, ["filters"], environment: [:])
        try terminal.waitFor("FILTER      EXAMPLE")
        try terminal.waitFor("tilt-shift=radius:6,position:60%,angle:10  Blurs the photo")
        #expect(try terminal.status() == 0)
    }

    @Test func describesAFilter() throws {
        let outcome = try Program.run("filters", "blur")
        #expect(outcome.status == 0)
        #expect(
            outcome.lines == [
                "filter\tblur", "group\ttexture", "summary\tBlurs the photo with a Gaussian.", "example\tblur=5px",
                "parameter\tsigma", "summary\tThe standard deviation of the Gaussian.",
                "value\ta number of pixels from 0.3 to 250", "unit\tpx", "default\t3",
                "written as\tVALUE or sigma:VALUE",
            ])
        let resize = try #require(try Program.run("filters", "resize", "--json").json() as? [String: Any])
        let parameters = try #require(resize["parameters"] as? [[String: Any]])
        #expect(parameters[0]["name"] as? String == "size" && parameters[0]["required"] as? Bool == true)
        #expect(parameters[1]["default"] as? String == "cover" && parameters[1]["positional"] as? Bool == true)
    }

    @Test func unknownFilterSuggestsTheNearest() throws {
        let outcome = try Program.run("filters", "sepai")
        #expect(outcome.status == 2)
        #expect(outcome.standardError.contains("did you mean \"sepia\"?"), "\(outcome.standardError)")
    }
}
