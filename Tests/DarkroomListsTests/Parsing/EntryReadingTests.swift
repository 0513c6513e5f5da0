import DarkroomModel
import Testing

@testable import DarkroomLists

@Suite struct EntryReadingTests {
    private func read(_ name: [UInt8], _ url: [UInt8], folder: String? = "/lists") -> PhotoListEntry {
        var reading = EntryReading(folder.map { .all(in: $0) } ?? .none)
        var entry = PhotoListEntry(name: "", url: "")
        name.withUnsafeBytes { name in
            url.withUnsafeBytes { reading.read(ListEntry(name: name, url: $0)) { entry = PhotoListEntry($0) } }
        }
        return entry
    }

    @Test func readsTextThatIsNotUTF8AsWindows1252() {
        let name: [UInt8] = [0x4d, 0xfc, 0x6e, 0x20, 0x80, 0x93]
        #expect(read(name, Array("http://h/a".utf8)).name == "Mün €“")
        #expect(read(Array("Mün".utf8), [0x68, 0xe9]) == PhotoListEntry(name: "Mün", url: "hé"))
    }

    @Test(arguments: [
        ("/photos/a b.jpg", "file:///photos/a%20b.jpg"), ("./x", "file:///lists/x"), ("../x", "file:///lists/../x"),
        ("a.jpg", "file:///lists/a.jpg"), ("sub/a.JPG", "file:///lists/sub/a.JPG"), ("NO URL", "NO URL"),
        ("example.org/a.jpg", "example.org/a.jpg"), ("ann:pw@h/a.jpg", "ann:pw@h/a.jpg"), ("//h/a.jpg", "//h/a.jpg"),
        ("data:image/png;base64,AA", "data:image/png;base64,AA"), ("", ""), ("notes.txt", "notes.txt"),
        ("http://h/a.jpg", "http://h/a.jpg"), ("a\n.jpg", "a\n.jpg"),
    ])
    func readsPathsAsFileURLs(text: String, url: String) {
        #expect(read([], Array(text.utf8)).url == url)
        #expect(
            read([], Array(text.utf8), folder: nil).url == text,
            "a path in a list from the web was read as a path of this machine"
        )
    }
}
