import DarkroomModel
import ErrorExpectations
import Testing

@Suite struct CustomFilterTests {
    @Test(
        arguments: [
            ("x:sketch", "sketch"), ("x:A_b-9", "A_b-9"), ("x:", nil), ("x:a b", nil), ("x:a=1", nil), ("x:ä", nil),
            ("X:sketch", nil), ("sepia=0.8", nil), ("sketch", nil), ("", nil),
        ] as [(String, String?)])
    func nameFollowsTheColon(_ filter: String, _ name: String?) {
        #expect(CustomFilter.name(of: filter) == name)
    }

    @Test func nameHasAtMost64Letters() {
        #expect(CustomFilter.isName(String(repeating: "a", count: 64)))
        #expect(!CustomFilter.isName(String(repeating: "a", count: 65)))
    }

    @Test func customFilterMustBeTheOnlyFilterOfItsBatch() throws {
        #expect(try CustomFilter.name(in: ["x:sketch"]) == "sketch")
        #expect(try CustomFilter.name(in: ["sepia=0.8", "tilt-shift=radius:3"]) == nil)
        #expect(try CustomFilter.name(in: []) == nil)
        for filters in [["x:sketch", "sepia"], ["sepia", "x:sketch"], ["x:a", "x:b"]] {
            let error = expectError(InvalidCustomFilter.self) { try CustomFilter.name(in: filters) }
            #expect(error?.description.contains("leave out the others") == true)
        }
        let error = expectError(InvalidCustomFilter.self) { try CustomFilter.name(in: ["x:no name"]) }
        #expect(error?.description.hasPrefix("filter \"x:no name\": write x:") == true)
    }
}
