import DarkroomModel
import Testing

@testable import DarkroomLists

/// Lists with quotation marks that do not enclose fields.
@Suite struct QuotedListTests {
    /// The lines of a table with these names.
    private func table(_ names: [String], _ delimiter: String = "\t", end: String = "\n", header: Bool = true) -> String
    {
        let rows = names.enumerated().map { "\($1)\(delimiter)http://a/\($0).jpg" }
        return ((header ? ["caption\(delimiter)url"] : []) + rows).joined(separator: end) + end
    }

    private static let captions: [[String]] = [
        ["a", "\"b", "c", "d"], ["a", "\"b", "c\"", "d"], ["\"a", "b", "c", "\"d"], ["a", "b", "c", "\"d"],
        ["\"a\"", "\"b", "c", "d"], ["5\" a", "\"b", "c", "d\""], ["\"", "b", "c", "\"\""],
        ["a \"x\"", "\"y\" b", "\"c", "d"],
    ]

    @Test(arguments: captions, ["\n", "\r\n"]) func quotationMarksOfTSVAreText(names: [String], end: String) throws {
        for header in [true, false] {
            let found = try lines(of: table(names, end: end, header: header), named: "list.tsv")
            #expect(found == names.enumerated().map { "\($1)=http://a/\($0).jpg" })
        }
    }

    @Test(arguments: [0, 500, 900, 999], ["", "\""]) func noRowOfALongTSVIsLost(row: Int, ending: String) throws {
        var names = (0..<1000).map {
            "caption \($0) of a list that is longer than the window in which formats are detected"
        }
        names[row] = "\"" + names[row] + ending
        names[999] += "\""
        let found = try entries(of: Array(("\u{feff}" + table(names)).utf8), named: "list.tsv", step: 4096)
        #expect(found.count == 1000 && found.map(\.url) == names.indices.map { "http://a/\($0).jpg" })
    }

    /// The quoted field is resolved after 1 MiB, although the list has no other quotation mark.
    @Test(arguments: [1000, 100_000, .max]) func noRowOfAHugeTSVIsLost(step: Int) throws {
        var names = (0..<20_000).map {
            "caption \($0) of a list, in which a quoted field could be longer than a megabyte"
        }
        names[1000] = "\"" + names[1000]
        let found = try entries(of: Array(table(names).utf8), named: "list.tsv", step: step)
        #expect(found.count == 20_000 && found.map(\.url) == names.indices.map { "http://a/\($0).jpg" })
    }

    @Test func quotedFieldsOfTSVAreReadAsInCSV() throws {
        let text =
            "name\turl\n\"Cat \"\"Tom\"\"\"\thttp://a/1.jpg\n\"two\twords\"\thttp://a/2.jpg\n\"two\nlines\"\thttp://a/3.jpg\n"
        let expected = ["Cat \"Tom\"=http://a/1.jpg", "two\twords=http://a/2.jpg", "two\nlines=http://a/3.jpg"]
        #expect(try lines(of: text) == expected)
        #expect(try lines(of: "\"url\"\t\"name\"\n\"http://a/1.jpg\"\t\"Cat\"\n") == ["Cat=http://a/1.jpg"])
    }

    @Test func rowsOfCSVWithinAQuotedFieldAreRows() throws {
        let text = "name,url\nCat,http://a/1\n\"Dog,http://a/2\nApe,http://a/3\nthe \"end,http://a/4\nEmu,http://a/5\n"
        #expect(try lines(of: text).map { $0.suffix(10) } == (1...5).map { "http://a/\($0)" })
    }

    // MARK: Quoted fields that would swallow rows

    private static let swallowed: [(String, [String])] = [
        // Paths.
        (
            "file,caption\n/a.jpg,\"Hello\n/b.jpg,world\n/c.jpg,\"end\n/d.jpg,last\n",
            ["/a.jpg", "/b.jpg", "/c.jpg", "/d.jpg"]
        ),
        (
            "file\tcaption\n/a.jpg\t\"Hi\n/b.jpg\n/c.jpg\tfoo\" bar\n/d.jpg\tx\n",
            ["/a.jpg", "/b.jpg", "/c.jpg", "/d.jpg"]
        ),
        // One line has all columns.
        (
            "url,caption\nhttp://a/1,\"Oh, no\nhttp://a/2,said \"she\"\nhttp://a/3,x\n",
            ["http://a/1", "http://a/2", "http://a/3"]
        ),
        ("url;caption\nhttp://a/1;\"Oh\nhttp://a/2\nhttp://a/3;end\"\n", ["http://a/1", "http://a/2", "http://a/3"]),
        // No line has the right number of fields, but the quotation marks are not at the ends of fields.
        (
            "url,caption\nhttp://a/1.jpg,\"Oh, no\nhttp://a/2.jpg,a, b, \"she\" c\nhttp://a/3.jpg,x\n",
            ["http://a/1.jpg", "http://a/2.jpg", "http://a/3.jpg"]
        ),
        // The closing quotation mark opens a field of another row, which has quoted fields.
        ("url,caption\nhttp://a/1,\"Oh\n\"http://a/2\",x\nhttp://a/3,x\n", ["http://a/1", "http://a/2", "http://a/3"]),
        // In the header, and in the first row of a table without a header.
        (
            "url,\"caption\nhttp://a/1,x\nhttp://a/2,\"y\nhttp://a/3,z\n",
            ["http://a/1", "http://a/2", "http://a/3"]
        ),
        (
            "\"What a day,http://a/1\nplain,http://a/2\n\"He said,http://a/3\nx,http://a/4\n",
            ["http://a/1", "http://a/2", "http://a/3", "http://a/4"]
        ),
    ]

    @Test(arguments: swallowed.indices) func quotedFieldSwallowsNoRow(number: Int) throws {
        let (text, urls) = Self.swallowed[number]
        #expect(try entries(of: Array(text.utf8), named: "x.csv").map(\.url) == urls)
    }

    @Test(arguments: [
        "url,caption\nhttp://a/1,\"see\nhttp://b/x.jpg\nfor more\"\nhttp://a/2,x\n",
        "caption,url\n\"see\nhttp://b/x.jpg\nfor more\",http://a/1\nx,http://a/2\n",
        "caption,url\n\"a \"\"b\"\"\nc, d\",http://a/1\nx,http://a/2\n",
        "http://a/1,\"see\nhttp://b/x.jpg\nfor more\"\nhttp://a/2,\"two\nlines\"\n",
    ])
    func linesOfAQuotedTextAreNotRows(text: String) throws {
        #expect(try entries(of: Array(text.utf8), named: "x.csv").map(\.url) == ["http://a/1", "http://a/2"])
    }

    @Test func urlInAQuotedTextIsTold() throws {
        let found = try parsed("url,caption\nhttp://a/1,\"see\nhttp://b/x.jpg\nfor more\"\n")
        #expect(found.remark?.hasPrefix("line 2: a quoted field has line ends, and one of its lines has a URL") == true)
    }

    // MARK: Tabs

    private static let tabs: [(String, [String])] = [
        // The last or the first field is empty.
        (
            "http://a/0\tx\t\nhttp://a/1\t\"a\t1\nhttp://a/2\ty\t\nhttp://a/3\t\"b\t1\n",
            ["x=http://a/0", "\"a=http://a/1", "y=http://a/2", "\"b=http://a/3"]
        ),
        ("\thttp://a/0\nA\thttp://a/1\n", ["0=http://a/0", "A=http://a/1"]),
        ("\tname\turl\n0\tA\thttp://a/0\n", ["A=http://a/0"]),
        ("sep=\t\nname\turl\nA\thttp://a/0\n", ["A=http://a/0"]),
        // Tabs around URLs in plain text.
        ("\thttp://a/0\nhttp://a/1\t\nhttp://a/2\n", ["0=http://a/0", "1=http://a/1", "2=http://a/2"]),
        ("\t/b/0.jpg\n/b/1.jpg\t\n/b/2.jpg\n", ["0.jpg=/b/0.jpg", "1.jpg=/b/1.jpg", "2.jpg=/b/2.jpg"]),
        // A tab is never a part of a URL.
        (
            "A\thttp://a/0.jpg?x=1\tz\nB\thttp://a/1.jpg\t\nC\thttp://a/2.jpg\t\n",
            ["A=http://a/0.jpg?x=1", "B=http://a/1.jpg", "C=http://a/2.jpg"]
        ),
        ("name\turl\nA\thttp://a/0?x=1\tz\n", ["A=http://a/0?x=1"]),
        ("name\turl\nA\thttp://a/0\tb.jpg\nB\thttp://a/1\n", ["A=http://a/0", "B=http://a/1"]),
        ("url\tname\nhttp://a/0?id=1\tA\t b\nhttp://a/1\tB\n", ["A\t b=http://a/0?id=1", "B=http://a/1"]),
    ]

    @Test(arguments: tabs.indices) func fieldsOfTSVAreKept(number: Int) throws {
        let (text, expected) = Self.tabs[number]
        #expect(try lines(of: text) == expected)
    }

    private func parsed(_ text: String, _ quotes: ListQuotes? = nil) throws -> (entries: [String], remark: String?) {
        var parser = PhotoListParser(listName: "x.csv", quotes: quotes)
        var found: [String] = []
        try Array(text.utf8).withUnsafeBytes { bytes in
            try parser.parse(bytes, isLast: true) {
                let entry = PhotoListEntry($0)
                found.append("\(entry.name)=\(entry.url)")
            }
        }
        return (found, parser.quoteRemark?.description)
    }

    @Test func userChoosesHowQuotationMarksAreRead() throws {
        let text = "name\turl\n\"Cat\thttp://a/1\nDog\"\thttp://a/2\n"
        #expect(try parsed(text, .literal).entries == ["\"Cat=http://a/1", "Dog\"=http://a/2"])
        #expect(try parsed(text, .csv).entries == ["Cat\thttp://a/1\nDog=http://a/2"])
        let quoted = "name,url\n\"Cat\",http://a/1\n"
        #expect(try parsed(quoted, .literal).entries == ["\"Cat\"=http://a/1"])
    }

    @Test func fieldWithLineEndsThatChangesTheNumberOfFieldsIsTold() throws {
        let odd = try parsed("name,url\nCat,http://a/1\n\"Dog,x\nlast\n\",http://a/2,3,4\n")
        #expect(odd.remark?.hasPrefix("line 3: ") == true, "\(odd)")
        #expect(try parsed("name,url\n\"two\nlines\",http://a/2\n").remark == nil)
    }

    // MARK: Numbers in JSON

    @Test(arguments: [
        ("{\"url\":\"http://a/1\",\"w\":NaN}\n{\"w\":-Infinity,\"url\":\"http://a/2\"}\n{\"url\":NaN}\n", "x.jsonl"),
        ("[{\"url\":\"http://a/1\",\"w\":Infinity}, {\"w\":[NaN,-Infinity],\"url\":\"http://a/2\"}, NaN]", "x.json"),
    ])
    func numbersThatPythonWritesAreRead(text: String, name: String) throws {
        let urls = try entries(of: Array(text.utf8), named: name).map(\.url)
        #expect(urls.count == 3 && urls[..<2] == ["http://a/1", "http://a/2"])
        #expect(urls[2].contains("NaN in place of a URL"))
    }

    @Test func wordsThatAreNoNumbersAreNotJSON() {
        #expect(failure(of: Array("[Nan]".utf8))?.code == .damaged)
        #expect(failure(of: Array("[\"http://a/1\", Infinit]".utf8))?.code == .damaged)
    }

    // MARK: Text that is not UTF-8

    @Test func percentEncodedBytesAreNotTextOfTheList() {
        func conversions(_ name: [UInt8], _ url: String) -> (Int, String) {
            var reading = EntryReading(.none)
            var found = ""
            name.withUnsafeBytes { name in
                Array(url.utf8).withUnsafeBytes {
                    reading.read(ListEntry(name: name, url: $0)) { found = PhotoListEntry($0).name }
                }
            }
            return (reading.converted, found)
        }
        #expect(conversions(Array("caf".utf8) + [0xe9], "http://a/caf%E9") == (0, "café"))
        #expect(conversions([0xe9], "http://a/caf%E9") == (1, "é"))
    }

    @Test(arguments: [
        "a.jpg", "./a.jpg", "../a.jpg", "sub/a.jpg", "..\\a.jpg", ".\\a.jpg", "sub\\a.jpg", "//h/a.jpg", "\\\\h\\a.jpg",
    ])
    func relativePathsInAListOfSomebodyElseAreRefused(path: String) {
        var reading = EntryReading(.absolute)
        var urls: [String] = []
        for text in [path, "/photos/a.jpg"] {
            Array(text.utf8).withUnsafeBytes { bytes in
                reading.read(ListEntry(name: bytes, url: bytes)) { urls.append(PhotoListEntry($0).url) }
            }
        }
        #expect(urls == [path, "file:///photos/a.jpg"] && PhotoURL.check(path)?.reason == .notAURL)
    }
}
