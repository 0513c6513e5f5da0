import DarkroomModel
import Foundation
import Testing

/// Valid batch ids. An id becomes part of paths and of keys.
@Suite struct BatchIDTests {
    @Test(arguments: ["20261121-090501123-7f3a", "b", "0", "A_b-9", String(repeating: "a", count: 64)])
    func acceptsLettersDigitsDashesAndUnderscores(text: String) throws {
        #expect(try #require(BatchID(text)).description == text)
        #expect(try JSONDecoder().decode(BatchID.self, from: Data("\"\(text)\"".utf8)) == BatchID(text))
        #expect(try JSONEncoder().encode(BatchID(text)) == Data("\"\(text)\"".utf8))
    }

    @Test(arguments: [
        "", ".", "..", ".holder", "../../victim", "a/b", "/", "/etc", "a/../b", "a\0", "a\nb", "\n", "a b", " a",
        "a:states", "a.b",
        "-a", "--", "_", "é", "a\u{202e}b", "a\u{2028}", "a\\b", String(repeating: "a", count: 65),
        String(repeating: "x", count: 300),
    ]) func refusesTextsThatCouldLeaveAFolderOrAKey(text: String) throws {
        #expect(BatchID(text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([BatchID].self, from: json) }
    }

    @Test func generatedIDsAreValidAndSortBySubmission() {
        let ids = [0, 1, 1_795_251_901_123, 1_795_251_901_124].map { BatchID(submittedAt: $0) }
        #expect(ids.allSatisfy { BatchID($0.description) == $0 })
        #expect(ids == ids.sorted())
    }
}
