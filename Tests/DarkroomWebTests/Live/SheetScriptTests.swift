import DarkroomModel
import Testing

@testable import DarkroomWeb

/// The texts that the page of a batch gives to its script.
struct SheetScriptTests {
    @Test func eachStateCodeHasAText() throws {
        let states = try #require(try JSONValue(Array(SheetScript.states.text.utf8)).array)
        let texts = states.map { [$0["code"]?.int.map(String.init), $0["state"]?.string, $0["text"]?.string] }
        #expect(texts.contains(["80", "progress", "in progress"]))
        #expect(texts.contains(["70", "filtered", "filtered"]))
        #expect(texts.contains(["122", "failed", "failed: other"]))
        let codes = states.compactMap { $0["code"]?.int }
        let expected =
            "NPDFC".utf8.map(Int.init)
            + FailureReason.allCases.map { Int($0.stateCode) }
        #expect(codes.sorted() == expected.sorted())
        for state in states where state["state"]?.string == "failed" {
            let reason = try #require(state["reason"]?.string)
            #expect(state["text"]?.string == "failed: \(reason)")
        }
    }
}
