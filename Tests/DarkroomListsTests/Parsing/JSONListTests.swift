import DarkroomLists
import DarkroomModel
import ErrorExpectations
import Testing

@Suite struct JSONListTests {
    static let lists: [(String, String, [String])] = [
        (#"{"Cat": "http://a/1.jpg", "Ape": "NO URL"}"#, "", ["Cat=http://a/1.jpg", "Ape=NO URL"]),
        (
            "{\n \"Cat\": \"http:\\/\\/a\\/1.jpg\",\n \"Cat\": 5, \"n\": null, \"o\": {\"url\": 1}, \"l\": [1]\n}\n",
            "",
            [
                "Cat=http://a/1.jpg", "Cat=the number 5 in place of a URL", "n=null in place of a URL",
                "o=an object in place of a URL", "l=an array in place of a URL",
            ]
        ),
        (#"["http://a/1.jpg", "http://a/2.jpg"]"#, "", ["1.jpg=http://a/1.jpg", "2.jpg=http://a/2.jpg"]),
        (
            #" [{"url": "http://a/1.jpg", "name": "Cat"}, {"image_url":"http://a/2", "id": 3}, 7, {"x": "y"}] "#, "",
            [
                "Cat=http://a/1.jpg", "2=http://a/2", "the number 7 in place of a URL=the number 7 in place of a URL",
                #"no URL among the keys of {"x": "y"}=no URL among the keys of {"x": "y"}"#,
            ]
        ),
        (#"["\u00e9\ud83d\ude00\t\"\\"]"#, "", ["é😀\t\"\\=é😀\t\"\\"]),
        // JSONL.
        (
            "{\"url\":\"http://a/1\",\"name\":\"Cat\"}\n\n{\"name\":\"Dog\",\"url\":\"http://a/2\"}\r\n", "",
            ["Cat=http://a/1", "Dog=http://a/2"]
        ),
        ("\"http://a/1\"\n\"http://a/2\"\n", "", ["1=http://a/1", "2=http://a/2"]),
        (#"{"url": "http://a/1", "name": "Cat", "tags": ["x", {"url": "http://b/"}]}"#, "", ["Cat=http://a/1"]),
        (
            #"{"Cat": "http://a/1"}"#, "list.jsonl",
            ["no URL among the keys of {\"Cat\": \"http://a/1\"}=no URL among the keys of {\"Cat\": \"http://a/1\"}"]
        ),
        (
            "{\"url\": \"http://a/1\"}\n{\"url\": \"http://a/2\"\n[1]\n{\"url\": null, \"name\": \"Dog\"}\n", "",
            [
                "1=http://a/1",
                "line 2=line 2 is not JSON (the end, expected \",\" or \"}\"): {\"url\": \"http://a/2\"",
                "an array in place of a URL=an array in place of a URL",
                "Dog=null in place of a URL of {\"url\": null, \"name\": \"Dog\"}",
            ]
        ),
    ]

    @Test(arguments: lists.indices) func findsNamesAndURLs(number: Int) throws {
        let (text, name, expected) = Self.lists[number]
        let found = try lines(of: text, named: name)
        // For an invalid URL, the table above may have the whole text as the name, although the name is only the part
        // after the last slash. Such names are not compared.
        #expect(found.map { $0.split(separator: "=").last } == expected.map { $0.split(separator: "=").last })
        for (found, expected) in zip(found, expected) where !expected.contains("among") { #expect(found == expected) }
    }

    @Test(arguments: [
        ("[\n\"http://a/1\",\n\"http://a/2\n", 3, "not closed"), ("[\"http://a/1\"", 1, "\",\" or \"]\""),
        ("{\"Cat\":\n\n}", 3, "expected a value"), ("[\"http://a/1\"]\n[2]", 2, "JSONL"),
        ("[nul]", 1, "nul"), (String(repeating: "[", count: 100_000), 1, "nesting"),
    ]) func errorNamesTheDamagedLine(text: String, line: Int, found: String) throws {
        for step in [1000, .max] {
            let error = try #require(failure(of: Array(text.utf8), step: step))
            #expect(error.code == .damaged)
            #expect(error.line == line)
            #expect(error.message.contains(found), "\(error.message)")
        }
    }

    @Test func recommendsJSONLInsteadOfATooLargeDocument() throws {
        let text = "[" + String(repeating: "\"http://a/1\",", count: 10_000) + "\"http://a/2\"]"
        let error = expectError(PhotoListError.self) {
            try entries(of: Array(text.utf8), step: 10_000, maxWholeBytes: 100_000)
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("JSONL") == true)
    }

    @Test func streamsLinesBeyondTheLimitOfWholeDocuments() throws {
        let text = String(repeating: "{\"url\": \"http://a/1\"}\n", count: 20_000)
        #expect(try entries(of: Array(text.utf8), step: 10_000, maxWholeBytes: 100_000).count == 20_000)
    }

    /// In a description of an invalid entry, only the excerpt of the list is redacted.
    @Test func descriptionsOfInvalidEntriesAreShownWhole() throws {
        let list = """
            {"url":"http://a/1"}
            # c
            {"url":"http://ann:secret@a/2?secret"} ann:secret@a/3?secret http:\\/\\/ann:secret@a
            {"name":"http://ann:secret@a/4?secret", "n": "ann:secret@a"}
            """
        let urls = try entries(of: Array(list.utf8), named: "x.jsonl").map(\.url)
        let details = urls.map { PhotoURL.check($0)?.detail ?? $0 }
        #expect(details.count == 4 && details[1] == "line 2 is not JSON (# c, expected a value): # c", "\(details)")
        #expect(
            details[2].hasPrefix("line 3 is not JSON (a/3 expected the end of the line): {\"url\":\"http://a/2\"} a"))
        #expect(details[3] == "no URL among the keys of {\"name\":\"http://a/4\", \"n\": \"a\"}")
        for text in urls + urls.map(PhotoURL.withoutUser) + details { #expect(!text.contains("secret"), "\(text)") }
        #expect(urls.map(PhotoURL.withoutUser) == urls && urls.map(PhotoURL.redacted) == urls)
    }
}
