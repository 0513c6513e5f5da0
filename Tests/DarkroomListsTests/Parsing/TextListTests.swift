import DarkroomLists
import DarkroomModel
import Testing

@Suite struct TextListTests {
    @Test func readsOneURLPerLine() throws {
        let text =
            "\u{feff}# my photos\r\nhttp://a/1.jpg\r\n\r\n  http://a/x/2.jpg\t\n \nNO URL\n#http://a/no\nhttp://a/3.jpg"
        #expect(
            try lines(of: text) == [
                "1.jpg=http://a/1.jpg", "2.jpg=http://a/x/2.jpg", "NO URL=NO URL", "3.jpg=http://a/3.jpg",
            ])
    }

    @Test func keepsCommasThatBelongToURLs() throws {
        let list = "http://a/w_300,h_200/1.jpg\nhttp://a/w_300,h_200/2.jpg\n"
        #expect(try lines(of: list) == ["1.jpg=http://a/w_300,h_200/1.jpg", "2.jpg=http://a/w_300,h_200/2.jpg"])
        #expect(try lines(of: "http://a/1.jpg?s=1,2\n") == ["1.jpg=http://a/1.jpg?s=1,2"])
        #expect(try lines(of: "http://a/1.jpg?s=1;2\n", named: "list.txt") == ["1.jpg=http://a/1.jpg?s=1;2"])
    }

    @Test(arguments: [1 << 20, (1 << 20) + 1, 2_000_000]) func limitsTheLengthOfALine(length: Int) throws {
        let long = "http://a/" + String(repeating: "x", count: length - 9)
        let bytes = Array("http://a/1\n\(long)\nhttp://a/2\n".utf8)
        for step in [1000, 65_536, .max] {
            let found = try entries(of: bytes, step: step)
            #expect(found.map(\.url.utf8.count) == [10, length > 1 << 20 ? 30 : length, 10])
            if length > 1 << 20 {
                #expect(found[1] == PhotoListEntry(name: "line 2", url: "URL of \(length) bytes, too long"))
                #expect(PhotoURL.check(found[1].url)?.reason == .notAURL)
            }
        }
    }

    @Test func readsLinesThatChunksCut() throws {
        let urls = (0..<20_000).map { "http://host.example/folder/\($0 * 7919).jpg" }
        let bytes = Array(urls.joined(separator: "\n").utf8)
        for step in [997, 65_536, 262_144] {
            #expect(try entries(of: bytes, step: step).map(\.url) == urls)
        }
    }
}
