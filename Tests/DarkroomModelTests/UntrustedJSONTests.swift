import DarkroomModel
import Foundation
import Testing

@Suite struct UntrustedJSONTests {
    private struct Value: Decodable, Equatable {
        var name: String?
        var inner: [String: [Int]]?
    }

    private func decode(_ text: String, inserting bytes: [UInt8] = []) throws -> Value {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return try UntrustedJSON().decode(
            Value.self, from: Array(parts.map { Array($0.utf8) }.joined(separator: bytes)))
    }

    @Test func readsTheJSONThatDarkroomWrites() throws {
        #expect(try decode(" {\"name\": \"a \\\"b\\\" \\ud83d\\ude00\"} ").name == "a \"b\" \u{1f600}")
        #expect(try decode("{\"other\": [{}, {\"x\": []}], \"inner\": {\"7\": [1]}}").inner == ["7": [1]])
    }

    /// In Swift 6.0, Foundation's decoder crashes on each of these texts.
    @Test(arguments: [
        "{\"\\ud800\": 1}", "{\"\\udc00\": 1}", "{\"\\ud800\\u0041\": 1}", "{\"\\x\": 1}", "{\"\\u12g4\": 1}",
        "{\"a\u{1}\": 1}", "{\"a\u{0}\": 1}", "{\"inner\": {\"\\x\": [1]}}", "{\"other\": [[{\"\\x\": 1}]]}",
    ]) func keyWithInvalidEscapesIsRefused(_ text: String) {
        #expect(throws: DecodingError.self) { try decode(text) }
    }

    @Test(arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xc3]] as [[UInt8]])
    func textThatIsNotUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(throws: DecodingError.self) { try decode("{\"a@\": 1}", inserting: bytes) }
        #expect(throws: DecodingError.self) { try decode("{\"name\": \"a@\"}", inserting: bytes) }
    }

    @Test(arguments: ["", "{", "{} {}", "{\"name\"}", "\u{feff}{}x", String(repeating: "[", count: 100_000)])
    func invalidJSONIsRefused(_ text: String) {
        #expect(throws: DecodingError.self) { try decode(text) }
    }
}
