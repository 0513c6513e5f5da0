import DarkroomModel
import Foundation
import Testing

@testable import DarkroomWorkerState

/// The JSON text that Redis stores for a failed photo.
@Suite struct FailureTextTests {
    @Test(arguments: ["x", "\u{1}", "\"", "é", "😀"]) func limitsTheLengthForAnyCharacters(_ character: String) throws {
        let long = String(repeating: character, count: 100_000)
        let record = PhotoRecord(index: 3, name: long, url: "https://host/\(long)")
        var line = ManifestLine(batch: BatchID("b"), record: record, state: .failed(.tooManyRedirects))
        line.detail = long
        line.attempts = 1_000_000
        let json = FailureText.json(line)
        #expect(json.count <= 512)
        struct Kept: Decodable { let name, url, reason, detail: String }
        let kept = try JSONDecoder().decode(Kept.self, from: Data(json))
        #expect(kept.name.hasPrefix(character) && kept.name.hasSuffix("...") && kept.detail.hasSuffix("..."))
        #expect(kept.url.hasPrefix("https://host/") && kept.reason == "too-many-redirects")
    }

    @Test func removesSecretsOfURLs() {
        let record = PhotoRecord(index: 3, name: "a.jpg", url: "https://ann:secret@host/a.jpg?token=secret")
        var line = ManifestLine(batch: BatchID("b"), record: record, state: .failed(.tooManyRedirects))
        line.detail = "at https://other/b.jpg?token=secret: 5 redirects"
        let text = String(decoding: FailureText.json(line), as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("\"url\":\"https://host/a.jpg\""))
        #expect(text.contains("\"detail\":\"at https://other/b.jpg 5 redirects\""))
    }
}
