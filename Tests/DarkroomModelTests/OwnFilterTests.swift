import DarkroomModel
import ErrorExpectations
import Testing

@Suite struct OwnFilterTests {
    @Test(
        arguments: [
            ("x:sketch", "sketch"), ("x:A_b-9", "A_b-9"), ("x:", nil), ("x:a b", nil), ("x:a=1", nil), ("x:ä", nil),
            ("X:sketch", nil), ("sepia=0.8", nil), ("sketch", nil), ("", nil),
        ] as [(String, String?)])
    func nameIsWhatStandsBehindTheColon(_ filter: String, _ name: String?) {
        #expect(OwnFilter.name(of: filter) == name)
    }

    @Test func nameHasAtMost64Letters() {
        #expect(OwnFilter.isName(String(repeating: "a", count: 64)))
        #expect(!OwnFilter.isName(String(repeating: "a", count: 65)))
    }

    @Test func isTheOnlyFilterOfItsBatch() throws {
        #expect(try OwnFilter.name(in: ["x:sketch"]) == "sketch")
        #expect(try OwnFilter.name(in: ["sepia=0.8", "tilt-shift=radius:3"]) == nil)
        #expect(try OwnFilter.name(in: []) == nil)
        for filters in [["x:sketch", "sepia"], ["sepia", "x:sketch"], ["x:a", "x:b"]] {
            let error = expectError(InvalidOwnFilter.self) { try OwnFilter.name(in: filters) }
            #expect(error?.description.contains("leave out the others") == true)
        }
        let error = expectError(InvalidOwnFilter.self) { try OwnFilter.name(in: ["x:no name"]) }
        #expect(error?.description.hasPrefix("filter \"x:no name\": write x:") == true)
    }
}
