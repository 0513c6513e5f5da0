import DarkroomTestSupport
import Testing

@testable import DarkroomLists

/// The lines of the entries of a list.
@Suite struct EntryLineTests {
    @Test(arguments: [
        ("list.txt", "# comment\nhttp://h/1\n\nhttp://h/2\r\nNO URL", [2, 4, 5]),
        ("list.csv", "name,url\n\"a\nb\",http://h/1\nc,http://h/2\n", [2, 4]),
        ("list.jsonl", "\"http://h/1\"\n\n{\"url\":\"http://h/2\"}\nrubbish\n", [1, 3, 4]),
        ("list.json", "[\"http://h/1\",\n\"http://h/2\"]", [nil, nil]),
    ])
    func lineIsWhereTheEntryBegins(_ name: String, _ text: String, _ lines: [Int?]) throws {
        let scratch = try ScratchFolder()
        let list = try PhotoListReader(scratch.write(name, text))
        for _ in 0..<2 {
            var found: [Int?] = []
            try list.read { entry in
                found.append(entry.line)
                return true
            }
            #expect(found == lines)
            try list.rewind()
        }
    }
}
