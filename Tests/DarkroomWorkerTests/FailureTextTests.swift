import DarkroomModel
import Testing

@testable import DarkroomWorker

/// What Redis keeps of a failed photo.
@Suite struct FailureTextTests {
    @Test func keepsNoSecretOfURLs() {
        let record = PhotoRecord(index: 3, name: "a.jpg", url: "https://ann:secret@host/a.jpg?token=secret")
        var line = ManifestLine(batch: BatchID("b"), record: record, state: .failed(.tooManyRedirects))
        line.detail = "at https://other/b.jpg?token=secret: 5 redirects"
        let text = String(decoding: FailureText.json(line), as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(text.contains("\"url\":\"https://host/a.jpg\""))
        #expect(text.contains("\"detail\":\"at https://other/b.jpg 5 redirects\""))
    }
}
